# `--help` の文です。英語の原文はコマンドとオプションのドキュメントコメントにあります (crates/sokudo/src/cli/help.rs)。

## Headings and notes
help-heading-usage = 使い方:
help-heading-commands = コマンド
help-heading-arguments = 引数
help-heading-options = オプション
help-note-default = [既定値: { $value }]
help-note-env = [環境変数: { $value }]
help-note-values = [選択肢: { $value }]
help-advise =
    ファイルの木を最も速く複製する設定を探し、所要時間を示す。

    先に相手のホストで `sokudo serve --path DIR` を起動する。複製元の一部を読んで圧縮し、経路、両端の空き CPU、宛先のファイルシステムを測り、すべての設定を予測して、最良の三つを既定の設定と交互に試す。試行は宛先の中の専用ディレクトリーに書き、最後に消す。
help-advise-after =
    例:
      sokudo advise /srv/data hostb:/srv/data                どの設定で、どれだけかかるか
      sokudo advise /srv/data hostb                          経路だけ。相手には何も書かない
      sokudo advise /srv/data hostb:/srv/data --apply copy.toml
      sokudo replicate --specs copy.toml                     そのとおりに複製する
help-advise--apply = 選んだ設定を `sokudo replicate --specs FILE` のための指定として書く
help-advise--from = このホストのディレクトリー、または dataset:NxSIZE
help-advise--rounds = 各設定の試行の回数
help-advise--to = HOST:/DIR、または HOST。後者ではディスクに触れない
help-advise--transport = 内容を運ぶもの
help-advise--transport-tcp = 暗号化しない TCP。両端は互いを確かめる
help-advise--transport-tls = TCP 上の TLS 1.3。受信側の鍵を固定する
help-help = コマンドのヘルプを表示する
help-any--allow-unsafe = クラッシュ時にコミットを失うかデータが壊れるおそれのある --versus の設定 (`setting.innodb_flush_log_at_trx_commit=2` など) を許す
help-any--at = ターゲットの管理ポート。既定: このホストで最後に起動されたターゲット
help-any--clients = 全スレッドのクライアント数。それぞれが自分のセッションを持つ
help-any--commit = 負荷自身のセッションがコミットの承認を受ける時点。サーバーの設定は変わらない
help-any--commit-async = その前: サーバーの異常終了で最後のものが失われうる (PostgreSQL: synchronous_commit=off、SQLite: synchronous=normal)
help-any--commit-sync = データベースの設定のとおり: 通常はディスクに届いたとき
help-any--pool = 全クライアントが共有するセッションの数。アプリケーションがサーバーのプールを共有するのと同じで、全スレッドの合計。クライアントはトランザクションごとに空きを待つ。既定値: クライアントごとに 1 つ
help-any--data-ports = 負荷をこれらのポート (UDP と TCP) だけで受信します: `5000-5010`。既定ではシステムが選びます
help-any--help = ヘルプを表示する (`-h` は要約)
help-any--knee = オプションを LOW から HIGH まで上げて下ろし(例 `connections=1..200`)、屈曲点、つまりリクエストが待ち始める数を求める。`sokudo knee --help` を参照
help-any--retries = ほかのトランザクションのためにサーバーが終わらせたものを再び試す回数: 直列化の失敗、デッドロック、時間内に空かなかったロック
help-any--rule = --knee の答え: `bound`(待ちのないスループットが最大に達するところ)、`kneedle`(曲がるところ)、`cpu80`(サーバーの CPU がその % に達するところ)、`slo`(--slo が守られる最大)
help-any--no-server-stats = サーバー自身の値を、もう 1 つのセッションで観測することをやめる
help-any--protect = sokudo ターゲットの屈曲点の手前に上限を置く。スレッド数 = プール = 屈曲点のユーザー数、接続数はその 2 倍。1.5 倍のユーザーで確かめた後、元の値に戻す
help-any--version = バージョンを表示する

## Commands and options
help-agent = グループに加わり、Ctrl-C まで管理側 (コントローラー) の指示を実行する
help-agent--group = このホストが以前に参加したグループ
help-agent--join = `sokudo controller` が表示した行。コマンドラインは同じホストのほかのユーザーにも見えるため、見せたくない場合は環境変数で渡す
help-agent--label = このホストを選ぶためのラベル `site=tokyo`。何度でも指定できる。別のものを指定するまで保持する
help-agent--name = グループ内での名前。既定値: このホストの名前
help-agent--router = コントローラーのルーターでも `sokudo router` でもない、メッセージの接続先。`sokudo group zenohd` で設定した `zenohd`。選択肢の数だけ指定できる。別のものを指定するまで保持する
help-agent--via = 行に書かれたコントローラーの代わりに接続する、この拠点の `sokudo router` のアドレス
help-agent-after =
    例:
      sokudo agent --join sj1-…@192.0.2.10:7412     参加して常駐する
      SOKUDO_JOIN=sj1-… sokudo agent                同じ。行がプロセス一覧に現れない
      sokudo agent --join sj1-… --label site=tokyo  lab/site=tokyo としても選ばれる
      sokudo agent lab                              後で、トークンなしで戻る
      sokudo agent --print-policy                   コントローラーはここで何ができるか

    ポリシーは TOML ファイルです。書かれていない項目に制限はありません (フェーズの長さを除く):
      workloads = ["rr", "stream"]
      reach = ["hosts", "strangers"]
      destinations = ["192.0.2.0/24"]
      max_duration = "10min"
      max_rate = "1Gb/s"
      max_flows = 64

    `sokudo serve` も同じファイルに従い、同じ記録に書く。
help-any--args = 元のツールの引数
help-any--back = b から a への帰りで異なるもの: `rate=2Mb/s,queue=64KiB,delay=5ms,jitter=1ms,loss=1%,burst=4`
help-any--burst = 平均してこの長さの連続でパケットを失う (Gilbert-Elliott)。既定: 1 つずつ独立に失う
help-any--carrier = パケットを運ぶもの
help-any--carrier-auto = 速度と遅延だけで、カーネルにその機能があればカーネル、なければこのプログラム
help-any--carrier-kernel = カーネル: tbf と netem
help-any--carrier-tun = 2 つの TUN デバイスの間のこのプログラム
help-any--content = データセットのファイルの中身: `text`、`random`、`mixed:60`（乱数の百分率）
help-any--count = ちょうどこの数のトランザクションを測定する。--duration がなければ、失敗が続いて 10 秒と --timeout の 3 倍の間応答がないときにも終わる
help-any--delay = 片方のホストからもう片方までの時間 (片道)。往復はその 2 倍になる
help-any--direction = 誰が誰に要求するか
help-any--direction-mesh = すべてのホストがほかのすべてのホストに要求する
help-any--direction-up = このホストが各相手に要求する
help-any--durability = 内容が受信側の装置に書かれる時点
help-any--durability-batch = 公開の前に、多くのファイルをまとめて。電源が切れても古いファイルか新しいファイルが残る
help-any--durability-file = 次のファイルの前に、ファイルとそのディレクトリーごとに
help-any--durability-none = システムに任せる
help-any--duration = 測定時間。既定値: 10 s
help-any--exclude = 送らず、削除もしない: `*.tmp`、`cache/**`。繰り返せる
help-any--find = 条件を満たす最高のレートを探索し、あらためて測定して確認する: `p99<1ms`、`p99<1ms,errors<0.1%`、`loss<0.1%`
help-any--global = 生成側のプロパティーを設定する。ファイルごと指定してもよい。-J に優先する
help-any--home = JMeter のディレクトリー。その bin/jmeter.properties、bin/user.properties、bin/system.properties をほかより先に読む
help-any--hosts = `sokudo serve` が動いているホスト: HOST または HOST:PORT
help-any--include = 元からの相対で、グロブに合うファイルだけ: `*.rs`、`docs/**`。繰り返せる
help-any--interval = 系列のサンプル間の時間
help-any--jitter = 追加の遅延の最大値。パケットごとに 0 からこの値まで均等に選ばれる
help-any--json = 文章の代わりに JSON オブジェクトを一つ表示する (スキーマ sokudo.summary/1)
help-any--keep = 各スレッドの最初の N 往復を一つずつ記録に残す
help-any--key = `sokudo serve` が表示した鍵
help-any--lang = 文の言語: en または ja。既定値: SOKUDO_LANG、LC_ALL、LANG に従う
help-any--local = このマシンの中にこの数のホストを作る
help-any--loss = 各方向で失われるパケットの割合: `0.1%` または `0.001`
help-any--main-properties = jmeter.properties の代わりに最初に読むプロパティーファイル
help-any--live = 負荷の進行中、端末全体に表示します。レートとレイテンシーの推移、分布、エラー、ラベル、ホストが見えます。100 桁 30 行が必要です
help-any--max-skew = フローの開始時刻のずれの上限 `2ms`。超えた測定は 2 回まで繰り返し、それでも超えればチェックを不合格とする。ホスト間では時計の誤差が加わる
help-any--monitors = このモニターでも観測する: `process:port=8080`、`openmetrics:url=http://hosta:9100/metrics`。何度でも指定できる。一覧は `sokudo monitors`
help-any--name = グループ名
help-any--on = このホストの代わりに、これらのホストから同時に負荷をかける: `sokudo serve` が動いている `hostb`、グループの `lab/hostb`、グループ全体の `lab/*`。何度でも、またはコンマ区切りで指定できる。参加するかどうかは各ホストのポリシーで決まる
help-any--out = 実行中にすべてのサンプルを渡す: `openmetrics=127.0.0.1:9464` は最新の値を配信し、`prometheus=http://HOST:9090/api/v1/write`、`influx=http://HOST:8086/write?db=load`、`influx=udp://HOST:8089`、`otlp=http://HOST:4318/v1/metrics` は送信する。複数回指定できる。負荷が送信先を待つことはない
help-any--plan = テスト計画: .jmx ファイル
help-any--policy = ほかの者がこのホストに実行させてよいこと。既定値: sokudo のディレクトリーの policy.toml。そのファイルがなければ、実行に参加するホストとの 1 時間までのフェーズ
help-any--print-policy = ポリシーが許可すること、および誰が何を求めたかの記録先を表示する。ほかには何もしない
help-any--property = プロパティーを設定する (JMeter の同名のオプションと同じ)
help-any--property-file = プロパティーファイル。後のものが優先する
help-any--queue = 回線の手前のキューの大きさ。入りきらないものは捨てられる。既定: 往復の間に送れる量、最低でも 100 パケット
help-any--quiet-phase = 測定中は負荷だけを流す。ホストは記録を終了まで手元に置き、停止したホストはその時点で分かる
help-any--rate = データベースの状態にかかわらず毎秒始めるトランザクション数: `500/s`。レイテンシーは予定時刻から数える。既定値: 閉ループ (各クライアントは前のトランザクションが終わると次を始める)
help-any--reorder = 追加の遅延が短いパケットの追い越しを許す
help-any--repeat = この回数だけ続けて測定し、各回の中央値と、それを含む区間を示します。6 回以上で信頼度は 95 % です
help-any--run = 実行: 名前、名前の先頭部分または末尾部分、`latest`、またはパス
help-any--sample = レイテンシーを測定するリクエスト: all (すべて)、none (なし)、1/N (N 件に 1 件)。件数は常にすべて数える
help-any--seed = 乱数のシード。既定値: 無作為に決めて記録する
help-any--size = リクエストの大きさ。応答が異なるときは両方: `64`、`64:4KiB` (トランスポートのヘッダーを除く)。24 B 以上ではメッセージが自分の番号を運ぶ。それ未満 (1 B まで) はバイトストリーム上の `rr` だけ
help-any--slo = 測定が満たすべき条件 `p95<2s,errors<0.1%`。満たさなければチェックは不合格となり、終了コードは 1
help-any--sweep = オプションの値ごとに測定して屈曲点を探す: `rate=1k/s..10k/s:10` (等間隔に 10 段階)、`rate=1k/s..64k/s:x2` (倍々)、`size=64,1KiB,16KiB`。このテストのどのオプションでも変えられる
help-any--system = システムプロパティーを設定する。計画からは見えない。プロキシーのものは反映する
help-any--system-file = システムプロパティーのファイル。-D が優先する
help-any--target = データベース: `postgres://USER@HOST/DB`、`mysql://USER@HOST/DB`、`sqlite:FILE`。表は `sokudo db init` が作る。既定値: 測定のために作り、終われば消す SQLite ファイル
help-any--threads = 負荷スレッドの数
help-any--timeout = この時間内に応答のない試行を失敗とする
help-any--transport = メッセージのトランスポート
help-any--transport-mptcp = 複数経路を同時に使う TCP (カーネルが対応している場合)
help-any--transport-quic = QUIC 接続の 1 ストリーム
help-any--transport-shm = 両端が共有するメモリー。両端ともこのホスト上にあること
help-any--transport-tcp = TCP。小さなメッセージもすぐに送る (Nagle なし)
help-any--transport-tls = TCP 上の TLS 1.3
help-any--transport-udp = UDP。1 メッセージにつき 1 データグラム
help-any--transport-unix = このホストのソケット。両端ともこのホスト上にあること
help-any--unsupported = 実行できない要素や関数の扱い: fail (失敗)、warn (警告)、skip (省略)
help-any--uses = 参加できるホスト数。既定値: 無制限
help-any--valid = この行で参加できる期間: `30min`、`24h`
help-any--versus = 一つのオプションの変更ありとなしを交互に四回ずつ測り、その効果を示す: `rcvbuf=4MiB`、または省くなら `nagle=`。対象が sokudo ターゲットならその設定も: `target.pool.max=50`。データベースサーバーなら設定も: `setting.commit_delay=200`
help-any--wait = スレッドがメッセージを待つ方法 (両端): `block` と `epoll` はカーネル内で待つ (`epoll` は多数の接続を 1 回の呼び出しで待つ)。`spin` は眠らずに問い合わせ続け、`spin:50us` はその時間だけ続ける
help-any--warmup = 測定開始前の負荷。集計には含めない
help-any--web = 実行中の様子をブラウザーに表示し、そこから停止できるようにする。127.0.0.1 以外で待ち受けるとき、表示されるアドレスにはトークンが付く
help-any--with = 計画が自分のフォルダーと現在のフォルダーのほかに使ってよいファイルまたはフォルダー。計画に書かれたとおりに指定する。何度でも指定できる
help-any--workload = 表を使う負荷
help-any--workload-dbt1 = ネット店: 大きさは顧客 2,880 を単位とする数、1 で約 20 MB
help-any--workload-dbt2 = 受注: 大きさは倉庫の数、それぞれ約 100 MB
help-any--workload-dbt3 = 意思決定支援: 大きさはスケール係数、1 で約 1 GB
help-any--workload-tpcb = 振替: 大きさは支店の数、それぞれ約 15 MB
help-bus =
    ホスト間でメッセージを送り、毎秒のメッセージ数と所要時間を測る

    先に各 HOST で `sokudo serve` を起動する。送信中の量に上限があるため (--inflight)、レイテンシーは経路のもので、キューのものではない。
help-bus--batch = まとめて送るメッセージ: `auto` は次がなくなり次第あるだけ渡す。数を指定すると、その数がたまるまで待つ
help-bus--bind = --wire のとき、接続を受け付けるアドレス。`tmb://192.0.2.1:8000` など
help-bus--buffers = 途中でバイトを置くメモリー: `pool` は同じメモリーを使い回し、`heap` はバッチごとに確保し、`registered` はメモリーを RAM に固定する
help-bus--buffers-heap = バッチごとに確保するメモリー
help-bus--buffers-pool = 使い回す同じメモリー
help-bus--buffers-registered = RAM に固定したメモリー
help-bus--consume-rate = 受信側の各ホストが毎秒処理するメッセージ数 (遅い受信側)。`--rx queue` が必要
help-bus--count = スレッドごとにちょうどこの数のメッセージを送る。--duration がなければ、ほかに終了の条件はない
help-bus--direction = 誰が送るか
help-bus--direction-both = 両方が同時に送る
help-bus--direction-down = 各相手がこのホストに送る
help-bus--direction-mesh = すべてのホストがほかのすべてのホストに送る
help-bus--direction-up = このホストが各相手に送る
help-bus--inflight = 受領を待たずに各接続で送っておける量: `1MiB`、またはメッセージ数 `1000`。大きくしても遅くなるだけで、速度はほとんど上がらない
help-bus--mode = `stream`: 空きがある限り送り、一部に応答を求める。`rr`: すべてのメッセージに応答があり、次はその応答を待つ
help-bus--mode-rr = 前のメッセージの応答を待つ
help-bus--mode-stream = ウィンドウの空きを待つ
help-bus--no-acks = 受領通知を送らない。送信中の量は分からず、システムのバッファーだけが上限となる
help-bus--no-flow-control = ウィンドウを守らない。受領通知は送信中の量を知るためだけに使う
help-bus--polite = 相手の最初のメッセージが届いてから送る。`--direction both` または `mesh` が必要
help-bus--rate = このホストが全スレッドで毎秒送るメッセージ: `50k/s`、`1Gb/s`、`100MB/s`。レイテンシーは予定時刻から数える。既定値: ウィンドウが許す限り速く
help-bus--relay = 鎖状に送る: 最初の HOST へ、そこから次へと順に送り、応答は同じ道を戻る
help-bus--reuse = ペイロードを一度だけ書き、各メッセージにコピーする (`--touch` と併用)
help-bus--rx = 届いたものを処理するスレッド: `inline` は接続を読むスレッド、`queue` は受け渡し先の別のスレッド、`poll` はすべての接続を順に調べて眠らないスレッド
help-bus--rx-inline = 接続を読むスレッド
help-bus--rx-poll = すべての接続を順に調べ、眠らないスレッド
help-bus--rx-queue = 受け渡し先の別のスレッド
help-bus--rx-threads = `--rx queue` または `poll` のときの各ホストの処理スレッド数。既定値: 1
help-bus--sample = レイテンシーを測るメッセージ: `all` (すべて)、`1/100` (100 件に 1 件)、`none` (なし)。既定値: `--mode rr` ではすべて、ストリームでは 1/100 (測るたびに応答を求める)
help-bus--single = メッセージごとに接続を一つ使う
help-bus--size = ヘッダーを含むメッセージの大きさ: `4KiB`、または一様に選ぶ範囲 `64..16KiB`。24 B 以上。応答は元のメッセージと同じ長さ
help-bus--step = メッセージごとに確認する: 標準入力の 1 行につき 1 件を送る
help-bus--timeout = 送信中のものがあるのにこの時間何も戻らない接続を失敗とする
help-bus--touch = 各メッセージのペイロードを、1 回にこのバイト数ずつ書いて読む。0 なら触れない
help-bus--transport = メッセージのトランスポート
help-bus--transport-mptcp = 複数経路を同時に使う TCP (カーネルが対応している場合)
help-bus--transport-quic = QUIC 接続の 1 ストリーム
help-bus--transport-rdma = RDMA デバイス (InfiniBand、RoCE)。対応を組み込んだ sokudo が必要
help-bus--transport-shm = 両端が共有するメモリー。両端ともこのホスト上にあること
help-bus--transport-tcp = TCP。小さなメッセージもすぐに送る (Nagle なし)
help-bus--transport-tls = TCP 上の TLS 1.3
help-bus--transport-unix = このホストのソケット。両端ともこのホスト上にあること
help-bus--tsv = 終了後、間隔ごとに 1 行のタブ区切りの表を書く
help-bus--tx-threads = 相手ごとの送信スレッド数。それぞれが接続を持つ
help-bus--verbose = 応答レイテンシーの分布も表示する
help-bus--wait = スレッドが待つ方法 (両端): `block` と `epoll` はカーネル内で待つ。`spin` は眠らずに問い合わせ続け、`spin:50us` はその時間だけ続ける
help-bus--warmup = 測定開始前の負荷。時間、またはスレッドごとのメッセージ数: `2s`、`10000`。集計には含めない
help-bus--window = `--mode rr` のとき、各接続で応答を待たずに送れるメッセージ数
help-bus--wire = 別のツールのプロトコルで話す。相手側はそのツールのプロセスで、分かるのはこちら側の数値だけ。HOST はそのツールのアドレス
help-bus--wire-tmb = よく知られたデータグリッドの TCP メッセージバス、バージョン 0。HOST は `tmb://HOST:PORT`
help-bus-after =
    例:
      sokudo bus hostb                               4 KiB のメッセージを、ウィンドウが許す限り速く
      sokudo bus hostb --rate 50k/s                  予定時刻からのレイテンシー
      sokudo bus hostb --find 'p99<1ms'              条件を満たす最高のレート
      sokudo bus hostb --mode rr --wait spin         一度に 1 件、最短のレイテンシー
      sokudo bus hostb --rx queue --consume-rate 1k/s    遅い受信側
      sokudo bus hostb hostc --relay                 hostb が hostc に転送する
      sokudo bus hostb hostc --direction mesh        すべてのホストがほかのすべてに送る
      sokudo bus tmb://hostb:8000 --wire tmb         別のツールのプロセスが応答する
      sokudo bus hostb --tsv bus.tsv                 間隔ごとに 1 行

    レート: `50k/s` はメッセージ、`1Gb/s` はビット、`125MB/s` はバイトです。
help-check =
    このマシンの性能、またはグループのホスト間のネットワークの性能を測る。準備も root も不要

    --group がなければ 2 分ほどかかる。Linux の root では、ネットワーク名前空間で 4 台のホストを作ってブリッジでつなぎ、終了時に消す。それ以外では 4 つのループバックアドレスで代用する。
help-check--expect = ホストの各組が各方向で満たすべきこと: 回線速度、レイテンシー・損失・エラーの上限、またはその両方 (コンマ区切り)。1 Gb/s の回線なら 900 Mb/s のペイロードを運べること (ヘッダーとフレームが 5~6 % を占める)
help-check--group = グループの全ホスト間のネットワークを調べる: すべてのホストがほかのすべてのホストと双方向に、できるだけ多くの組を同時に
help-check--layers = 調べる層。指定がなければすべて
help-check--max-loss = 最高レートで許す損失の割合: `0.1%` または `0.001`
help-check--quick = フェーズを短くする。約 30 秒で終わるが、数値の確かさは下がる
help-check--within = グループの検査の制限時間。まず負荷を短くし、次に組み合わせを減らす。既定値: 3min、--quick では 1min
help-check-after =
    例:
      sokudo check                                   このマシンのすべての層
      sokudo check rr stream --quick                 そのうち 2 つを短く
      sokudo check --group lab                       グループ lab のすべての組、すべての層
      sokudo check --group lab --expect 1Gb/s        … 各組が 1 Gb/s の回線なみに運べること
      sokudo check --group lab --expect '10Gb/s,p99<1ms,loss<0.1%' --within 10min

    層: probe、rr、crr、stream、bus、http、target、replicate、tpcb、datagram。条件を満たさない組や、何も通らない組があれば
    終了コードは 1 です。
help-compat = 別のツールのコマンドラインをそのまま受け取り、同じ形式のレポートを表示する
help-compat-datagram-test =
    よく知られたデータグリッドのデータグラムテスト: `sokudo compat datagram-test -local :9999 …`

    そのツールのプロトコルで話すため、相手は本物のプロセスでよい。`-?` ですべてのオプションを表示する。ツールが自分では終了しない場合は Ctrl-C で終える。
help-compat-iperf3 =
    iperf3 のコマンドライン: `sokudo compat iperf3 -c HOST -t 10 -R`。`-s` でサーバーになる

    iperf3 のプロトコルで話すため、相手は本物の iperf3 でよい。`--help` ですべてのオプションを表示する。
help-compat-jmeter =
    Apache JMeter のコマンドライン: `sokudo compat jmeter -n -t plan.jmx -l result.jtl -J…`

    JMeter と同じ行を表示し、結果ファイルを書く。記録は残さない。
help-compat-message-bus-test =
    同じデータグリッドのメッセージバステスト: `sokudo compat message-bus-test -bind tmb://…`

    そのツールのプロトコルで話すため、相手は本物のプロセスでよい。`-?` ですべてのオプションを表示する。元のツールと同じく Ctrl-C で終える。
help-compare = 同じ負荷の測定を比べる: 良くなったもの、悪くなったもの、差が認められないもの
help-compare--min-effect = 差とみなす、速さまたは時間の最小の違い: `5%` または `0.05`
help-compare--output = 両側の曲線を重ねたページを書くファイル
help-compare--allow-unsafe = クラッシュ時にコミットを失うかデータが壊れるおそれのある設定 (fsync=off など) を許す
help-compare--profiles = 実行ではなく、データベースサーバーの設定のプロファイルを比べる: `default,tuned`。最初のものがほかと比べる基準。`default` はファイルになくてよく、何も変えない
help-compare--rounds = 回数。各回ですべてのプロファイルを 1 度ずつ、最初のものだけ 2 度測る
help-compare--settings = プロファイルのファイル (TOML): それぞれの表に `設定 = 値` を書く
help-compare--runs = 比べる実行。2 つ以上: 名前、その先頭部分または末尾部分、`latest`、またはパス。コンマで区切ると 1 つのグループになる。--profiles では `--` の後ろの負荷
help-compare-after =
    例:
      sokudo rr hostb --repeat 5                         変更の前に …
      sokudo rr hostb --repeat 5                         … 変更の後に
      sokudo compare 2026-11-20T13 latest                良くなったか、悪くなったか
      sokudo compare a1,a2,a3,a4 b1,b2,b3,b4             1 回ずつの測定を 2 つのグループとして
      sokudo compare old new --min-effect 2% --json      スクリプト用: 悪くなったものがあれば終了コード 1
      sokudo compare --profiles default,lazy -- tpcb --target DSN -c 16   サーバーの設定を交互に

    最初の側を基準に、ほかの側を比べる。区間が信頼度 95 % で 0 を含まず、差が --min-effect 以上のときに、
    良い・悪いと判定する。それには、それぞれ 4 回の測定が必要。損失とエラーの割合は 0.1 ポイント以上の差を
    数える。

    --profiles は自分で測る。各回ですべてのプロファイルを 1 度ずつ、最初のものだけ 2 度、くじで決めた順に測る。
    差は各回の中で取り、判定には 6 回が必要。最初のもの同士の差より小さい差は、ほかの差とはみなさない。設定はサーバーを止めずに変え
    (ALTER SYSTEM と再読み込み、または SET GLOBAL)、終わったら元に戻す。強制終了されたときは、次のコマンドが
    戻す。再起動の要る設定は断る。
help-completions = シェルの補完スクリプトを表示する: `sokudo completions bash > /etc/bash_completion.d/sokudo`
help-completions--shell = 対象のシェル
help-console = 多数のホストに 1 行ずつ指示し、その結果を見る
help-console--hosts = ホスト: `sokudo serve` が動いている HOST または HOST:PORT、グループの全ホストは GROUP、その 1 台は GROUP/NAME
help-console--interval = モニターのサンプル間の時間
help-console--max-skew = フェーズ内のフローの開始時刻のずれの上限 `2ms`。超えたフェーズは 2 回まで繰り返し、それでも超えればチェックを不合格とする。ホスト間では時計の誤差が加わる
help-console--quiet-phase = フェーズ中は負荷だけを流す。ホストは記録を終了まで手元に置き、停止したホストはその時点で分かる
help-console-after =
    例:
      sokudo console lab                    グループ lab の全ホスト
      sokudo console hosta hostb            `sokudo serve` が動いているホスト
      sokudo console --local 4              このマシン内の 4 ホストで試す
      sokudo console lab < switch.sks       ファイルの内容を実行する

      node 1 set connectnode 3              入力欄に別々のコマンドを入れ …
      node 2 set connectnode 4
      all enter                             … 全ホストで同時に実行する
      all sendreceive-n 1MB 1000
      waitallresults 2 60s                  1 分後に結果のないホストを表示する

    `help` で言葉の一覧が出ます。実行したことはすべて一つの記録に残ります。
help-controller =
    Ctrl-C まで、グループのエージェントの接続を受け付ける

    ホストが参加するための行を表示する。エージェントがこのホストに接続する: ルーターは UDP、参加は同じ番号の TCP。
help-controller--address = エージェントから見たこのホストのアドレス (システムのものと異なる場合)
help-controller--bind = 待ち受けるアドレス
help-controller--router = コントローラーのルーターが接続し、ホストが代わりに接続する、このグループのルーター。`sokudo group zenohd --alone` で設定した `zenohd`。その数だけ指定できる
help-controller--web = グループ全体の `sokudo web` のページも提供する。127.0.0.1 以外で待ち受けるとき、表示されるアドレスにはトークンが付く
help-controller-after =
    例:
      sokudo group init lab
      sokudo controller lab
      sokudo controller lab --web      グループのページを http://127.0.0.1:7480/ で提供する
      sokudo agent --join TOKEN        各ホストで
      sokudo group hosts lab
      sokudo rr lab/hostb              グループのホストは GROUP/NAME と書く
      sokudo run mesh.js lab/site=tokyo     ラベルで選ぶこともできる
help-crr =
    リクエストごとに接続を開いて閉じる: 毎秒の接続数とそのレイテンシー

    先に各 HOST で `sokudo serve` を起動する。接続と TLS ハンドシェイクの時間を分けて示す。
help-crr--count = スレッドごとにちょうどこの数のリクエストを測定する。--duration がなければ、失敗が続いて 10 秒と --timeout の 3 倍の間応答がないときにも終わる
help-crr--rate = このホストがすべての相手に対して毎秒開始するリクエスト数: `20k/s`。レイテンシーは予定時刻から数える。既定値: 閉ループ (応答が次のリクエストを始める)
help-crr--threads = 相手ごとのスレッド数 (両端)
help-crr--timeout = この時間応答のないリクエストを失敗とする。接続は閉じ、UDP では失われたとみなす
help-crr-after =
    例:
      sokudo crr hostb                               接続し、64 B を要求して閉じることを繰り返す
      sokudo crr hostb --transport tls --threads 4   TLS ハンドシェイク付きで、同時に 4 接続
      sokudo crr hostb --rate 200/s --duration 60s   開ループ。ポートの消費が少ない

    閉じた接続は 1 分間ローカルポートを占有します (TIME_WAIT)。
help-datagram =
    ホスト間でデータグラムを送り、届いた数と、失われた場所を示す

    先に各 HOST で `sokudo serve` を起動する。両端の結果を一つにまとめる。
help-datagram--allow-fragments = 経路 MTU に収まらず IP フラグメントに分割されるデータグラムを許す
help-datagram--bind = 送受信に使うローカルのアドレスとポート: `10.0.0.1`、`10.0.0.1:9999`、またはポートの範囲 `10.0.0.1:9999..10002`。何度でも指定でき、一つにつき 1 ストリームとなる
help-datagram--count = 各相手にちょうどこの数のデータグラムを送って終わる
help-datagram--direction = 誰が送るか: このホスト (up)、相手 (down)、両方同時 (both)
help-datagram--direction-both = 両方が同時に送る
help-datagram--direction-down = 相手がこのホストに送る
help-datagram--direction-mesh = すべてのホストがほかのすべてのホストに送る
help-datagram--direction-mesh-self = すべてのホストが、自分を含むすべてのホストに送る
help-datagram--direction-up = このホストが相手に送る
help-datagram--duration = 送信時間。既定値: 10 s、または --count に達するまで
help-datagram--gro = 複数のデータグラムを一つのバッファーでカーネルから受け取る (GRO)
help-datagram--gro-auto = I/O モードに合わせる
help-datagram--gro-off = 無効
help-datagram--gro-on = 有効
help-datagram--hosts = `sokudo serve` が動いているホスト: HOST または HOST:PORT。--wire のときは別のツールの相手。指定しなければこのホストが待ち受ける
help-datagram--idle-timeout = 送信側が終わった後、この時間何も届かなければ受信側を終える
help-datagram--io = データグラムをカーネルに渡す方法。`auto` は、このホストの自己テストで最も速かったものを使う
help-datagram--io-auto = このホストで最も速かったもの
help-datagram--io-gso = 1 回のシステムコールで 1 バッファーを渡し、カーネルまたはデバイスがデータグラムに分ける (GSO)
help-datagram--io-mmsg = 1 回のシステムコールで複数のデータグラム (sendmmsg、recvmmsg)
help-datagram--io-plain = 1 データグラムにつき 1 回のシステムコール
help-datagram--payload = 各データグラムのうちペイロード (グッドプット) として数えるバイト数。0 なら全体
help-datagram--polite = 最初のデータグラムが届いてから送る (--direction both のとき)
help-datagram--rate = 送信側の各ホストがすべての相手に対してかける負荷: `1Gb/s` (ビット)、`100MB/s` (バイト)、`20k/s` (データグラム)。既定値: できるだけ速く
help-datagram--rate-per-peer = 各相手にかける負荷
help-datagram--rcvbuf = 受信バッファー: バイト (`4MiB`) またはデータグラム (`1428pkt`)。既定値: 4 MiB
help-datagram--report-every = 時間 (`1s`) またはデータグラム数 (`100kpkt`) ごとに、それまでのレートを 1 行で表示する
help-datagram--size = IP と UDP のヘッダーを除くデータグラムの大きさ: `1468`、`1KiB`、または一様に選ぶ範囲 `64..1468`。既定値: 経路 MTU に収まる大きさ
help-datagram--sndbuf = 送信バッファー: バイト (`1MiB`) またはデータグラム (`16pkt`)。既定値: システムの値
help-datagram--streams = 各相手への並列フロー数。それぞれがスレッドとソケットを持つ
help-datagram--strict-buffers = システムが要求より小さいバッファーしか与えないときは実行しない
help-datagram--ticks = N データグラムごとに印を描く: o と O は送信、i と I は受信
help-datagram--transport = データグラムを UDP で、または枠を付けて TCP や TLS で運ぶ
help-datagram--transport-tcp = フローごとに一つの TCP 接続に枠を付けて送る
help-datagram--transport-tls = フローごとに一つの TLS 1.3 接続に枠を付けて送る
help-datagram--transport-udp = UDP
help-datagram--tsv = 終了後、系列をタブ区切りの表に書く
help-datagram--verify = 各データグラムのうち、送信側が模様で埋めて受信側が検証するバイト数。既定値: ヘッダーだけ
help-datagram--wire = 別のツールのプロトコルで話す。相手側はそのツールのプロセスで、sokudo は不要
help-datagram--wire-datagram-test = よく知られたデータグリッドのデータグラムテスト。32 ビットの通し番号
help-datagram--wire-datagram-test-64 = 同じものの 64 ビット版。そのリリース 24.09 の受信側が正しく数える
help-datagram-after =
    例:
      sokudo datagram hostb                              できるだけ速く 10 秒
      sokudo datagram hostb --rate 1Gb/s --duration 60s  この回線は 1 Gb/s を運べるか
      sokudo datagram hostb --find 'loss<0.1%'           条件を満たす最高のレート
      sokudo datagram hostb --sweep rate=1Gb/s..8Gb/s:8  負荷を上げたときに届く量
      sokudo datagram hostb hostc --direction mesh       すべてのホストがほかのすべてに送る
      sokudo datagram hostb --count 100000 --io plain    ちょうど 100,000 個を 1 個ずつ

    レート: `1Gb/s` はビット、`125MB/s` はバイト、`20k/s` は毎秒のデータグラム数です。
help-demo =
    すべてを試せる Web サーバーを、このホストで起動する

    `/` はすぐに応答し、`/stress/` 以下のパスはデータベース接続と少しの CPU を使って約 10 ミリ秒で応答する。中身は余裕のある設定の `sokudo target app` で、キューを観察し、ノブを変えられる。
help-demo--plan = このサーバーを訪れる JMeter のテスト計画を書くファイル
help-demo--port = 127.0.0.1 でのサーバーのポート。0 なら空いているもの
help-demo-after =
    例:
      sokudo demo                                        サーバー。Ctrl-C まで動く
      sokudo http http://127.0.0.1:9080/stress/demo      別の端末から負荷をかける
      sokudo demo --plan demo.jmx                        訪れる JMeter のテスト計画も書く
      sokudo jmx run demo.jmx -J users=20 -J seconds=30
help-dns =
    ネームサーバーに負荷をかける: 毎秒の問い合わせ数、レイテンシー、応答の内容

    サーバー側には何も要らない。UDP または TCP の DNS。応答コード、切り詰められた応答、失われた問い合わせを区別して示す。
help-dns--connections = 全スレッドのソケット数。それぞれが自分のポートを持つ。スレッドが複数あるサーバーは、このポートで仕事を分ける
help-dns--count = ちょうどこの数の問い合わせを測定する。--duration がなければ、失敗が続いて 10 秒と --timeout の 3 倍の間応答がないときにも終わる
help-dns--dnssec = 署名 (DNSSEC) を求める
help-dns--key = それらのホストで `sokudo serve` が表示した鍵
help-dns--name = 問い合わせる名前。何度でも指定でき、順に問い合わせる。名前の中の `{"{"}n{"}"}` は問い合わせの番号 (10 桁) になり、どのキャッシュも知らない名前になる
help-dns--no-recursion = サーバー自身が知っていることだけを問い合わせる。指定しなければ、サーバーはほかのサーバーに問い合わせる (再帰)
help-dns--queries = 順に送る問い合わせ。1 行に 1 件、`名前` または `名前 タイプ`。`;` か `#` で始まる行は読み飛ばす。dnsperf と同じ形式の `@file`、または行そのもの
help-dns--rate = サーバーの状態にかかわらず毎秒始める問い合わせ数: `20k/s`。レイテンシーは予定時刻から数える。既定値: 閉ループ (応答が次の問い合わせを始める)
help-dns--server = ネームサーバー: アドレスか名前。53 番以外はポートを付ける: `192.0.2.53`、`ns1.example:5353`、`[2001:db8::53]:5353`
help-dns--threads = 問い合わせるスレッドの数
help-dns--timeout = この時間内に応答のない問い合わせを失敗とする
help-dns--transport = 問い合わせを運ぶもの
help-dns--transport-tcp = TCP。1 接続で多数の問い合わせ
help-dns--transport-udp = UDP。1 件に 1 データグラム
help-dns--type = 行で指定しない場合に問い合わせるレコードのタイプ: A、AAAA、MX、TYPE65 など
help-dns--udp-bytes = UDP の応答として許す最大の大きさ (EDNS)、バイト。0 ならこのレコードを送らず、応答は 512 バイトまでになる
help-dns--window = 各ソケットで同時に応答を待てる問い合わせの数
help-dns-after =
    例:
      sokudo dns 192.0.2.53 -q www.example.org           応答が来る限り速く、10 秒
      sokudo dns ns1.example -Q @queries.txt -d 60s      ファイルの問い合わせ (dnsperf と同じ形式)
      sokudo dns 192.0.2.53 -q www.example.org --rate 20k/s   開ループ: 予定時刻からのレイテンシー
      sokudo dns 192.0.2.53 -q www.example.org --find 'p99<5ms,errors<0.1%'   それを守る最大のレート
      sokudo dns 192.0.2.53 -q 'host{"{"}n{"}"}.example.org'     毎回新しい名前: どのキャッシュも知らない
      sokudo dns 192.0.2.53 -q example.org --type DNSKEY --dnssec --transport tcp
      sokudo dns 192.0.2.53 -q www.example.org --on 'lab/*' -c 64   グループの全ホストから

    再送はしない。途中で失われた問い合わせは、サーバーが答えなかったものと同じく失敗になる。
    存在しない名前 (NXDOMAIN) は応答であり、SERVFAIL と REFUSED は失敗である。
help-tpcb =
    データベースで振替を行う: 毎秒のトランザクション数と、それぞれが保持されるか

    PostgreSQL、MariaDB、MySQL。どれもなければ専用の SQLite ファイル。pgbench のトランザクションであり、TPC の結果ではない。
help-tpcb--key = それらのホストで `sokudo serve` が表示した鍵
help-tpcb--pipeline = トランザクションの文をまとめて送り、すべての応答を一度だけ待つ。7 往復の代わりに 1 往復になる。パイプラインは PostgreSQL のみ
help-tpcb--scale = 測定のために作るデータベースの支店の数。サーバーのデータベースの大きさはすでに決まっている
help-tpcb--variant = トランザクションの内容
help-tpcb--variant-full = TPC-B と同じく、口座、窓口、支店、履歴
help-tpcb--variant-no-branch = 窓口と支店を省く: 多くが待つ行がない
help-tpcb--variant-select = 口座の残高を読むだけ
help-tpcb-after =
    例:
      sokudo tpcb                                        専用の SQLite ファイル、1 クライアント、10 秒
      sokudo db init --target postgres://bench@hostb/bench --scale 50     最初に一度、表を作る
      sokudo tpcb --target postgres://bench@hostb/bench -c 16 -d 60s      確定できる限り速く
      sokudo tpcb --target postgres://bench@hostb/bench -c 64 --rate 500/s   開ループ: 予定時刻からのレイテンシー
      sokudo tpcb --target mysql://bench@hostb/bench -c 16 --variant select  読むだけ
      sokudo tpcb --target postgres://bench@hostb/bench -c 64 --find 'p99<20ms,errors<0.1%'   それを守る最大のレート
      sokudo tpcb --target postgres://bench@hostb/bench --knee clients=1..64   待ちが始まるところ

    終了後、各表の合計は一致しなければならず、サーバーが応答した確定はすべて残っていなければならない。
    パスワードは DSN、PGPASSWORD、MYSQL_PWD のいずれか。どれも記録には残らない。
help-dbt1 =
    このデータベースを使うネット店を訪れる: 毎秒の操作数と、注文の計算が合うか

    PostgreSQL、MariaDB、MySQL。どれもなければ専用の SQLite ファイル。TPC-W を手本にした 3 通りの組み合わせの 14 の操作であり、TPC の結果ではない。
help-dbt1--key = それらのホストで `sokudo serve` が表示した鍵
help-dbt1--mix = 来店者が主にすること
help-dbt1--mix-browsing = 主に閲覧: 購入は操作の 0.7 %
help-dbt1--mix-ordering = 主に購入: 購入は 10 %
help-dbt1--mix-shopping = 閲覧と購入: 購入は 1.2 %
help-dbt1--scale = 測定のために作るデータベースの大きさ。1 につき顧客 2,880。サーバーのデータベースの大きさはすでに決まっている
help-dbt1--think = 来店者が操作の前に考える平均時間。指数分布で、最大はその 10 倍。7s が仕様どおり。既定値: なし
help-dbt1-after =
    使用例:
      sokudo dbt1                                        専用の SQLite ファイルに顧客 2,880 の店、10 秒
      sokudo db init --target postgres://bench@hostb/bench --workload dbt1 --scale 10     最初に一度、表を作る
      sokudo dbt1 --target postgres://bench@hostb/bench -c 16 -d 60s      答えられる限り速く
      sokudo dbt1 --target postgres://bench@hostb/bench -c 100 --think 7s -d 20m   仕様どおり考える来店者
      sokudo dbt1 --target mysql://bench@hostb/bench -c 16 --mix ordering  10 回に 1 回は購入
      sokudo dbt1 --target mysql://bench@hostb/bench -c 64 --rate 500/s    開ループ: 予定時刻からのレイテンシー

    終了後、カート、注文、支払い、在庫は一致しなければならず、サーバーが応答した注文はすべて残っていなければならない。
    パスワードは DSN、PGPASSWORD、MYSQL_PWD のいずれか。どれも記録には残らない。
help-dbt2 =
    データベースに注文を入れる: 毎分の新規注文数と、帳簿が合うか

    PostgreSQL、MariaDB、MySQL。どれもなければ専用の SQLite ファイル。TPC-C を手本にした 5 種の業務トランザクションであり、TPC の結果ではない。
help-dbt2--key = それらのホストで `sokudo serve` が表示した鍵
help-dbt2--pace = 各クライアントを端末の利用者のように入力と思考の時間だけ待たせる。仕様の時間に掛ける係数で、1 が仕様どおり。端末 (--clients) は倉庫ごとに 10。既定値: 待たない
help-dbt2--warehouses = 測定のために作るデータベースの倉庫の数。サーバーのデータベースの大きさはすでに決まっている
help-dbt2-after =
    例:
      sokudo dbt2                                        専用の SQLite ファイルに倉庫 1、10 秒
      sokudo db init --target postgres://bench@hostb/bench --workload dbt2 --scale 10     最初に一度、表を作る
      sokudo dbt2 --target postgres://bench@hostb/bench -c 16 -d 60s      確定できる限り速く
      sokudo dbt2 --target postgres://bench@hostb/bench -c 100 --pace 1 -d 20m   仕様どおり倉庫ごとに 10 人
      sokudo dbt2 --target mysql://bench@hostb/bench -c 64 --rate 200/s   開ループ: 予定時刻からのレイテンシー
      sokudo db check --target postgres://bench@hostb/bench --workload dbt2    12 の条件をいつでも検査する

    終了後、表の 12 の条件が成り立ち、サーバーが応答した New-Order と Payment はすべて残っていなければならない。
    パスワードは DSN、PGPASSWORD、MYSQL_PWD のいずれか。どれも記録には残らない。
help-dbt3 =
    データベースに 22 の分析クエリーを、単独で、また複数のストリームから同時に送る: パワーとスループット。

    PostgreSQL、MariaDB、MySQL。指定しなければ専用の SQLite ファイル。表とクエリーは TPC-H をもとにしたもので、TPC の結果ではない。
help-dbt3--key = それらのホストで `sokudo serve` が表示した鍵
help-dbt3--query-seed = クエリーの条件を決める数。同じ数なら条件も同じ
help-dbt3--retries = ほかのトランザクションのためにサーバーが打ち切った更新をやり直す回数
help-dbt3--scale = 測定のために作るデータベースのスケール係数。サーバーのデータベースの大きさはすでに決まっている
help-dbt3--streams = スループットテストで同時に走るクエリーのストリームの数
help-dbt3--test = 測るもの
help-dbt3--test-both = パワー、続いてスループット。総合値も出す
help-dbt3--test-power = 1 本のストリーム: 更新、22 のクエリー、更新
help-dbt3--test-throughput = 同時に走る複数の 22 クエリーのストリームと、更新のストリーム
help-dbt3--timeout = この時間、答えのないクエリーは失敗とする
help-dbt3-after =
    使用例:
      sokudo dbt3                                        専用の SQLite ファイルにスケール係数 0.01
      sokudo db init --target postgres://bench@hostb/bench --workload dbt3 --scale 1      最初に一度、表を作る
      sokudo dbt3 --target postgres://bench@hostb/bench --streams 4       パワー、続いて 4 本のストリームを同時に
      sokudo dbt3 --target mysql://bench@hostb/bench --test power         1 本のストリームだけ
      sokudo db check --target postgres://bench@hostb/bench --workload dbt3    行数、関係、表ごとのチェックサム

    ラベル `answers` はパワーテストの答えのダイジェスト。スケールと --query-seed が同じなら、どの製品でも同じ値になる。
    パスワードは DSN、PGPASSWORD、MYSQL_PWD で渡す。どれも記録に残らない。
help-sqlmix =
    自分で決めたトランザクションの組み合わせをデータベースで実行する: その数、速さ、再試行の負担

    PostgreSQL、MariaDB、MySQL。どれもなければ専用の SQLite ファイル。pgbench のスクリプトファイルはそのまま、ほかに TOML の構成。
help-sqlmix--define = 開始時の変数とその値。複数回指定できる
help-sqlmix--file = 組み合わせるトランザクション: pgbench のスクリプトファイル、または TOML の構成 (`.toml`)。重みは `@` の後に書く (`read.sql@3`)。複数回指定できる
help-sqlmix--key = それらのホストで `sokudo serve` が表示した鍵
help-sqlmix--scale = `:scale` の値。--target なしで作るデータベースでは、`tpcb` の表の支店の数でもある
help-sqlmix-after =
    例:
      sokudo sqlmix --file examples/sql/point-select.sql     tpcb の表を持つ専用の SQLite ファイル
      sokudo sqlmix --target postgres://bench@hostb/bench --file read.sql@9 --file write.sql -c 16 -d 60s
      sokudo sqlmix --target postgres://bench@hostb/bench --file book.toml -c 64 --rate 500/s   開ループ
      sokudo sqlmix --target mysql://bench@hostb/bench --file book.toml -c 64 --pool 10   64 人で 10 セッションを共有
      sokudo sqlmix --target postgres://bench@hostb/bench --file pgbench.sql --scale 50 -D pause=10

    ファイルは pgbench のスクリプト、または TOML の構成 (.toml)。ほかのトランザクションのためにサーバーが終わらせたものは
    再び試し (--retries)、試行とトランザクションは別々に数える。
    パスワードは DSN、PGPASSWORD、MYSQL_PWD のいずれか。どれも記録には残らない。
help-db = データベースの負荷の表を作成、検査、保守する
help-db-init =
    データベースの負荷の表を作り直し、行を入れる

    そのワークロードの表があれば削除する: tpcb_branches、tpcb_tellers、tpcb_accounts、tpcb_history。または名前が dbt1_、dbt2_、dbt3_ で始まる表。
help-db-init--scale = 支店 (tpcb)、顧客 2,880 の単位 (dbt1)、倉庫 (dbt2) の数、またはスケール係数 (dbt3、0.01 から)
help-db-init--target = データベース: `postgres://USER@HOST/DB`、`mysql://USER@HOST/DB`、`sqlite:FILE` のいずれか。組み込まれていれば、dbt3 には `duckdb:FILE` も使える
help-db-ops =
    表の保守作業の時間を測る: 索引の再作成、空き領域の回収、行数の集計、表のダンプとリストア。

    PostgreSQL: reindex、vacuum、analyze、pg_dump、pg_restore。MariaDB と MySQL: alter table force、optimize、analyze、mariadb-dump または mysqldump、mariadb または mysql。SQLite: reindex、ファイル全体の vacuum、analyze、ファイル全体のオンラインバックアップとその逆。ダンプは TMPDIR の下の非公開ディレクトリーに置き、元のデータベースと並ぶ作業用データベースにリストアする。どちらも終了時に削除する。

    リストアした表が元の表と異なれば終了コードは 1。
help-db-ops--only = 行う作業。指定した順に行う
help-db-ops--only-analyze = 実行計画のために行数を集計する
help-db-ops--only-dump = 表を一時ファイルにダンプする
help-db-ops--only-reindex = 索引を作り直す
help-db-ops--only-restore = そのダンプを作業用データベースにリストアし、元の表と比べる
help-db-ops--only-vacuum = 削除した行の領域を回収する
help-db-ops--target = データベース: `postgres://USER@HOST/DB`、`mysql://USER@HOST/DB`、`sqlite:FILE` のいずれか。組み込まれていれば、dbt3 には `duckdb:FILE` も使える
help-db-ops--timeout = ダンプの最長時間、および比較を含むリストアの最長時間
help-db-check =
    データベースの負荷の表で成り立つべきことを検査する: tpcb の合計、dbt1 の 8 つの条件、dbt2 の 12 の条件、または dbt3 の行数、関係、チェックサム

    成り立たなければ終了コードは 1。
help-db-check--target = データベース: `postgres://USER@HOST/DB`、`mysql://USER@HOST/DB`、`sqlite:FILE` のいずれか。組み込まれていれば、dbt3 には `duckdb:FILE` も使える
help-doctor = sokudo が使えるシステムの機能をすべて試し、変更すべき点を示す
help-doctor--json = 1 行に一つの JSON オブジェクト
help-export = 記録をほかのプログラムの形式で書き出す。記録内の Parquet ファイルは書き出し不要
help-export--output = 書き込むディレクトリー。1 ファイルの形式では `-` で標準出力。既定値: 記録内の `export` ディレクトリー
help-export--to = ファイルの形式
help-export--to-csv = 表計算用の series.csv と flows.csv
help-export--to-hdr = distributions.hlog: HdrHistogram の間隔ログ形式の時間分布
help-export--to-iperf3 = iperf3.json: 実行の最後のストリームを `iperf3 -J` (3.12) の形式で
help-export--to-json = record.json: 一つのオブジェクトにすべて
help-export--to-perfetto = trace.json: フェーズ、フロー、系列、出来事を時間軸に並べたもの。ui.perfetto.dev で開ける
help-export--to-tsv = series.tsv と flows.tsv
help-group = グループを作り、ホストを参加させ、一覧を見る
help-group-hosts = ホストの一覧: 番号、名前、ラベル、システム、コア数、ネットワーク、時計のずれと誤差
help-group-hosts--json = 1 行に一つの JSON オブジェクト
help-group-hosts--name = グループ名。`GROUP/site=tokyo` はそのラベルを持つホストを一覧する
help-group-init = グループを作る: 認証局と、指示を出せる人の鍵
help-group-remove =
    鍵を失ったホストや、なくなったホストの名前を空け、次のホストが使えるようにする

    古いホストの証明書は期限まで (参加から最長 90 日) 有効です。それより前に締め出すには、新しいグループを作ります。
help-group-remove--host = ホスト名
help-group-token = ホストが参加するための行をもう一つ作る。コントローラーの再起動は不要
help-group-token--router = 拠点のメッセージを運ぶホスト用にする: `sokudo router --join`
help-group-zenohd = 自分で動かす `zenohd` がこのグループのメッセージを運ぶための設定ファイルを書く
help-group-zenohd--alone = どこにも接続しない。ほかのルーターがこれに接続する
help-group-zenohd--connect = 接続先のグループのルーター。何度でも指定できる。既定値: コントローラーが最後に起動した場所
help-group-zenohd--listen = 待ち受ける UDP のアドレス
help-group-zenohd--output = 書き込むファイル。`zenohd` は拡張子 `.json5` を求める
help-group-zenohd--valid = 証明書の有効期間。終わる前にファイルを書き直し、`zenohd` を再起動する
help-group-zenohd-after =
    例:
      sokudo group zenohd lab --output lab.json5     このホストのコントローラーに接続する
      zenohd -c lab.json5                            ルーター上で
      sokudo agent --join sj1-… --router zen1:7447   それに接続するホストで

      sokudo group zenohd lab --alone --output lab.json5      どこにも接続しない:
      sokudo controller lab --router zen1:7447                コントローラーが接続する
help-http =
    Web サーバーに負荷をかける: 毎秒のリクエスト数、レイテンシー、時間の内訳

    サーバー側には何も要らない。HTTP/1.1 または HTTP/2、平文または TLS。失敗は種類ごとに示す。
help-http--arrival = --rate のリクエストの間隔: 等間隔、または多数の独立した利用者のように不規則
help-http--arrival-even = すべて等しい間隔
help-http--arrival-poisson = 指数分布の間隔
help-http--body = 各リクエストの本文: 文字列、または `@file`。そのまま送る
help-http--connect-timeout = TLS を含めてこの時間内に確立しない接続を失敗とする
help-http--connections = 全スレッドの接続数。それぞれが一度に 1 件、または --streams 件のリクエストを運ぶ
help-http--count = ちょうどこの数のリクエストを測定する。--duration がなければ、ほかに終了の条件はない
help-http--header = ヘッダー行 `Name: value`。何度でも指定できる
help-http--host-header = `Host` ヘッダーの値。既定値: URL のホストとポート
help-http--http2 = HTTP/2 を使う。TLS ではハンドシェイクで合意し、TLS なしでは事前知識の `h2c` としてすぐに始める
help-http--insecure = どの名前のどの証明書も受け入れる。試験用のシステムだけで使う
help-http--key = それらのホストで `sokudo serve` が表示した鍵
help-http--method = リクエストのメソッド
help-http--no-keepalive = リクエストごとに接続を開き、終わると閉じる
help-http--ramp = 接続を順に始めていく時間。この間のリクエストも集計に含める
help-http--rate = サーバーの状態にかかわらず毎秒開始するリクエスト数: `500/s`。レイテンシーは予定時刻から数え、空いた接続がなければ待つ。既定値: 閉ループ (応答が次のリクエストを始める)
help-http--streams = --http2 の各接続で同時に進めるリクエスト数
help-http--threads = イベントループの数。それぞれ 1 スレッド
help-http--timeout = この時間内に応答が揃わないリクエストを失敗とする
help-http--url = 要求する対象: `http://host:8080/path?query`、`https://…`。スキームがなければ http
help-http-after =
    例:
      sokudo http http://hostb:8080/                     64 接続、10 秒、応答が来る限り速く
      sokudo http hostb:8080/ -c 256 -d 60s -t 2         2 スレッドで 256 接続
      sokudo http hostb:8080/ --rate 500/s               開ループ: 予定時刻からのレイテンシー
      sokudo http hostb:8080/ --rate 500/s --slo 'p95<2s,errors<0.1%'   満たさなければ終了コード 1
      sokudo http hostb:8080/ --find 'p99<50ms'          条件を満たす最高のレート
      sokudo http hostb:8080/ --sweep rate=100/s..6400/s:x2   負荷に対するレイテンシーと屈曲点
      sokudo http https://hostb/api -X POST -H 'Content-Type: application/json' -b @request.json
      sokudo http hostb:8080/ --on 'lab/*' -c 400        グループの全ホストから計 400 接続
      sokudo http https://hostb/ --http2 -c 32 -m 100    HTTP/2: 32 接続それぞれで同時に 100 リクエスト
      sokudo http hostb:8080/ --no-keepalive             リクエストごとに接続
      sokudo http hostb:8080/ -d 60s --web               実行中の様子をブラウザーで見る

    --rate がなければ閉ループです: 止まったサーバーへのリクエストは減り、遅れを見るリクエストはわずかです。
    --rate があれば、その間に要求したはずのすべてのリクエストが遅れを見ます。
help-import = iperf3 が書いた JSON (`iperf3 -J`) を読み、記録として残す
help-import--file = 読むファイル。`-` は標準入力
help-import-after =
    例:
      iperf3 -c hostb -J > result.json
      sokudo import result.json            表示し、記録として残し、レポートを書く
      sokudo export latest --to csv        ほかの記録と同じように使う
help-jmx = JMeter のテスト計画を実行し、検査し、試しに測る
help-jmx-check =
    計画の内容、実行される内容、作者の意図とおそらく異なる点を示す

    何も送らない。sokudo の知らない要素はエラーとし、ファイルと行を示す。
help-jmx-check--generators = それぞれが計画全体を実行する生成側の数
help-jmx-check--resolved = --json のとき、解決済みの計画も出力する
help-jmx-check--seed = テスト開始前に決まる乱数のシード
help-jmx-check-after =
    例:
      sokudo jmx check plan.jmx -J THREADS=40 -J DURATION=300
      sokudo jmx check plan.jmx -q test.properties --generators 4
      sokudo jmx check plan.jmx --json --resolved      プログラム向けにすべてを出力する

    終了コード: 0 計画を実行できる、2 拒否された (理由はすべて一度に示す)。
help-jmx-elements = sokudo の知るすべての要素と関数を Markdown のページとして表示する
help-jmx-probe =
    グループごとに 1 ユーザー分を送り、何ユーザーで過負荷になるかを予測する

    出力のほかの部分は `sokudo jmx check` と同じ。
help-jmx-probe--demand = 1 リクエストがサーバーの最も忙しい資源を占有する時間 (ミリ秒)。CPU 時間をコア数で割った値など
help-jmx-probe--duration = 各グループの 1 ユーザーが送る時間: `10`、`30s`、`1min`
help-jmx-probe--seed = テスト開始前に決まる乱数のシード
help-jmx-probe-after =
    例:
      sokudo jmx probe plan.jmx -J THREADS=40
      sokudo jmx probe plan.jmx --duration 30 --demand 43

    終了コード: 0 測定した、2 計画が拒否された、3 時間内に何も送らなかった。
help-jmx-run =
    JMeter のテスト計画を実行する: ユーザー、結果ファイル、および JMeter が示さない情報

    サーバー側には何も要らない。レイテンシーは、リクエストを送るはずだった時刻から数える。
help-jmx-run--compare = ダッシュボードで比較する、以前のテストの結果ファイル
help-jmx-run--dashboard = テストの後にダッシュボードを作る。-l と -o が必要
help-jmx-run--data = 計画のデータファイルの行の扱い: 各生成側にすべて、または分け合う
help-jmx-run--data-share = すべての生成側が最初の行からすべてを使う
help-jmx-run--data-split = 二つの生成側が同じ行を使うことはない
help-jmx-run--duration = 計画の時間やループの代わりに、主なグループを続ける時間: `60`、`60s`、`5min`
help-jmx-run--exit-remote = テスト後に JMeter のサーバーを終える。受け付けるが、ここでは意味を持たない
help-jmx-run--force = 結果ファイルとダッシュボードがあれば置き換える
help-jmx-run--insecure = JMeter と同じく、どの証明書も受け入れる
help-jmx-run--key = それらのホストで `sokudo serve` が表示した鍵
help-jmx-run--interval = 整数秒の間隔ごとに、レート、レイテンシー、ユーザー数、エラーを 1 行で表示する。モニターも同じ間隔で測る
help-jmx-run--knee = 計画のプロパティー(例 `THREAD_NUMBER=1..200`)または `users` を LOW から HIGH まで上げ、屈曲点、つまりリクエストが待ち始める数を求める。`sokudo knee --help` を参照
help-jmx-run--log = 結果ファイル (JTL)。すでにあれば行を追加する
help-jmx-run--log-file = 計画のスクリプトのログ。新しく作り直す。生成側が一つのときだけ
help-jmx-run--log-level = JMeter のログレベル。受け付けるが、ここでは意味を持たない
help-jmx-run--log-set-up = JMeter のログ設定。受け付けるが、ここでは意味を持たない
help-jmx-run--max-inflight = 開ループで同時に動くユーザーの上限。それ以上の到着は数えるだけで始めない
help-jmx-run--model = closed: 計画のユーザー。open: 一定のレートで到着し、それぞれ 1 回繰り返す (`open:500/s`。`poisson:500/s` は不規則な時刻に)。またはスケジュール: `schedule:rate(0/s) even_arrivals(30 s) rate(500/s) even_arrivals(5 min)`
help-jmx-run--no-proxy = プロキシーを通さないホスト: `|` 区切りの名前。先頭か末尾に `*` を使える
help-jmx-run--no-window = ウィンドウなしで実行する。ここでは常にそうする
help-jmx-run--output = ダッシュボードのディレクトリー。空であるか、存在しないこと
help-jmx-run--own-columns = JMeter が示さない列を加える: 予定時刻、送信時刻、errno、失敗の段階と種類
help-jmx-run--proxy-host = すべてのリクエストのプロキシー。自分のプロキシーを持つサンプラーはそれを使う
help-jmx-run--proxy-password = プロキシーのパスワード。記録しない
help-jmx-run--proxy-port = プロキシーのポート
help-jmx-run--proxy-scheme = プロキシーのスキーム: `http` だけ
help-jmx-run--proxy-user = プロキシーのユーザー
help-jmx-run--ramp = 計画の代わりに指定する、主なグループの全ユーザーが始まるまでの時間: `60`、`60s`、`5min`
help-jmx-run--remote = JMeter と同じく、--on のホストで --replicate
help-jmx-run--remote-all = プロパティー `remote_hosts` のホスト。-R と同じ
help-jmx-run--replicate = JMeter と同じく、すべての生成側が計画の全ユーザーを持つ。既定では分け合い、余りは先頭の生成側が持つ
help-jmx-run--repeat = 計画をこの回数だけ続けて実行し、各回の中央値と、それを含む区間を示します。6 回以上で信頼度は 95 % です
help-jmx-run--report-only = この結果ファイルのダッシュボードだけを作り、何も送らない。-o が必要
help-jmx-run--server = 遠隔から起動されるサーバーになる。対応していない
help-jmx-run--slo = 守るべき条件。応答時間の p50、p90、p95、p99、p99.9、mean、max、および err と rps: `p95<2s,err<0.1%,rps>100`。守られない条件があれば終了コードは 1
help-jmx-run--split = -R や -r のときも、計画のユーザーを分け合う
help-jmx-run--test = テスト計画 (JMeter のオプションとして)
help-jmx-run--threads = イベントループの数。既定値: コアごとに一つ
help-jmx-run--users = 計画の代わりに指定する、主な各グループのユーザー数
help-jmx-run--version = バージョンだけを表示する
help-jmx-run--versus = 1 つの変更の有無で計画を 4 回ずつ交互に実行し、その効果を示す。変更できるのは計画のプロパティー (`THREAD_NUMBER=40`)、各グループの `users=N`、負荷先の sokudo target のノブ (`target.pool.max=50`)
help-jmx-run--with = 計画が自分のフォルダーと現在のフォルダーのほかに使ってよいファイルまたはフォルダー。計画に書かれたとおりに指定する。そのファイルは生成側にも送られる。何度でも指定できる
help-jmx-run-after =
    例:
      sokudo jmx run plan.jmx -l result.jtl -J THREAD_NUMBER=40 -J SUSTAIN=300
      sokudo jmx run plan.jmx --users 100 --duration 60          各グループ 100 ユーザーで 1 分間
      sokudo jmx run plan.jmx --model open:500/s --duration 60   応答にかかわらず一定のレートで
      sokudo jmx run plan.jmx -l r.jtl --slo 'p95<2s,err<0.1%'   満たさなければ終了コード 1
      sokudo jmx run plan.jmx --on 'lab/*' -l all.jtl            ユーザーをグループのホストで分け合う
      sokudo jmx check plan.jmx                                  計画の内容を、負荷なしで
      sokudo compat jmeter -n -t plan.jmx -l result.jtl          JMeter 自身のコマンドラインと出力

    1 文字のオプションの意味は JMeter と同じです。未知の要素を含む計画は最初のリクエストの前に
    拒否します。--unsupported で変えられます。
help-jtl = JMeter と `sokudo jmx run` の結果ファイルを読む
help-jtl-report =
    結果ファイルのダッシュボードを作る: それだけで開ける 1 ページと statistics.json

    どの列の CSV も、XML も、長さにかかわらず少ないメモリーで読む。読めない行は数えて示す。
help-jtl-report--compare = 比較する、以前のテストの結果ファイル
help-jtl-report--file = 結果ファイル: .jtl、.csv、.xml
help-jtl-report--force = ディレクトリーにすでにあるダッシュボードを置き換える
help-jtl-report--output = ダッシュボードのディレクトリー。空であるか、存在しないこと。指定しなければ文字だけを表示する
help-jtl-report--percentiles = 表示するパーセンタイル (最大 8 個)。最初の 3 個は statistics.json にも書く。[既定値: 90,95,99]
help-jtl-report--property = JMeter のレポート生成のプロパティーを設定する: (jmeter.reportgenerator. に続く) apdex_satisfied_threshold、apdex_tolerated_threshold、aggregate_rpt_pct1~3
help-jtl-report--property-file = プロパティーファイル。後のものが優先し、-J はすべてに優先する
help-jtl-report--run = この行を残した実行。そのホストの CPU とインターフェースの推移、所見を加える。実行の ID、その先頭部分、`latest`、またはディレクトリー
help-jtl-report--slo = 満たすべき条件: パーセンタイル、mean、max、err、rps。`p95<2s,err<0.1%,rps>100` など
help-jtl-report-after =
    例:
      sokudo jtl report results.jtl -o dashboard
      sokudo jtl report results.jtl -o dashboard --slo 'p95<2s,err<0.1%'     満たさなければ終了コード 1
      sokudo jtl report new.jtl -o dashboard --compare old.jtl --percentiles 50,95,99.9
      sokudo jtl report results.jtl --json                                   数値だけ

    終了コード: 0 問題なし、1 条件を満たさない、2 ファイルを読めないかディレクトリーが空でない。
help-knee =
    Web サーバー、データベース、またはテスト計画の負荷をユーザーを増やしながらかけ、リクエストが待ち始めるところを求める

    `sokudo http TARGET --knee …`、`sokudo tpcb --target TARGET --knee …`、`sokudo jmx run TARGET --knee …` の短い形。それらのオプションをすべて続けられる。
help-knee--words = URL、データベース (DSN)、または計画 (.jmx)、上げるもの (`--param NAME=LOW..HIGH`)、規則 (`--rule`)、負荷のオプション
help-knee-after =
    例:
      sokudo knee http://hostb:8080/                       接続 1〜256
      sokudo knee http://hostb:8080/ --param connections=1..64 --rule cpu80
      sokudo knee http://hostb:8080/ --param connections=1..500 --rule slo --slo 'p95<50ms'
      sokudo knee plan.jmx --param THREAD_NUMBER=1..200 -J SUSTAIN=10
      sokudo knee postgres://bench@hostb/bench             tpcb のクライアント 1〜64、表は sokudo db init で作る
      sokudo knee postgres://bench@hostb/bench -c 64 --param pool=1..64   64 クライアントが共有するセッション
      sokudo rr hostb --knee streams=1..64                 閉じた負荷ならどれでも上げられる
      sokudo knee plan.jmx --param THREAD_NUMBER=1..60 --protect   sokudo ターゲットの上限を試す

    ユーザーは、ほとんど増えなくなるまで倍々に増え、屈曲点の周りの段階が加わり、それから全段階を
    下りながらもう一度、決め手の段階を三度目に実行する。最大 12 段階、29 回。
    答えは規則によるもので、実行のばらつきの区間が付く。レポートには全規則の答えがある。
help-link =
    このマシンの中に 2 つのホストを作り、速度、キュー、遅延、損失を指定したリンクでつなぐ

    ホストはネットワーク名前空間で、互いを `a` と `b` の名で知っている。ホスト、リンク、その上のプログラムは、このコマンドがどのように終わっても一緒に終わる。速度と遅延だけのリンクは、tbf と netem があればカーネルが運ぶ。それ以外と、損失やジッターのあるリンクは、2 つの TUN デバイスの間でこのプログラムが運ぶ。どちらの場合も、接続は端から端までカーネルの TCP のものである。Linux と、root かユーザー名前空間が必要。
help-link-after =
    例:
      sokudo link run --rate 100Mb/s --delay 20ms -- sokudo stream b
      sokudo link run --rate 20Mb/s --back rate=2Mb/s --loss 0.1% --far 'iperf3 -s' -- iperf3 -c b
      sokudo link run --delay 50ms --jitter 5ms --loss 1% --burst 8 -- bash
      sokudo link up --rate 100Mb/s --delay 20ms       Ctrl-C まで。プログラムの起動方法を表示する
help-link-exec = 動いているリンクのホストでコマンドを実行する
help-link-exec--command = コマンド
help-link-exec--host = ホスト
help-link-exec--process = リンクを持つプロセス。`sokudo link up` が表示する
help-link-run =
    ホスト b に相手を置いてホスト a でコマンドを実行し、リンクで起きたことを示す

    コマンドが終わると、その終了コードで終わる。リンクのカウンターは標準エラーに出る。
help-link-run--command = ホスト a のコマンド
help-link-run--far = ホスト b のコマンド。シェルが解釈する。先に起動し、もう一方と一緒に終わる。どちらも鍵を SOKUDO_KEY で受け取る。既定: `sokudo serve`
help-link-run--json = カウンターを 1 つの JSON オブジェクトとして標準エラーの最後の行に表示する
help-link-run--rate = 各方向の回線の速度。イーサネットのヘッダーを含む: `100Mb/s`。既定: なし (このマシンの速さまで)
help-link-run--seed = 損失とジッターのシード。同じパケットは同じ結果になる。既定: 毎回異なる
help-link-up = ホストとリンクを Ctrl-C まで保ち、そこでのプログラムの起動方法を示す
help-link-up--json = カウンターを 1 つの JSON オブジェクトとして標準エラーの最後の行に表示する
help-link-up--rate = 各方向の回線の速度。イーサネットのヘッダーを含む: `100Mb/s`。既定: なし (このマシンの速さまで)
help-link-up--seed = 損失とジッターのシード。同じパケットは同じ結果になる。既定: 毎回異なる
help-man = サブコマンドごとに man ページを書く
help-man--dir = 書き込むディレクトリー。指定しなければ主ページを標準出力に書く
help-metrics = 記録に含まれうるすべてのメトリクスを表示する: 名前、単位、種類、数えるもの
help-metrics--filter = 名前にこれを含むメトリクスだけ
help-metrics--json = 1 行に一つの JSON オブジェクト
help-monitors = すべてのモニターを表示する: 観測するもの、オプション、記録するメトリクス
help-monitors-after =
    例:
      sokudo monitors                          すべて
      sokudo monitors openmetrics              一つを、オプションとメトリクスとともに
      sokudo http http://hosta/ --monitor process:name=nginx,on=hosta
      sokudo rr hostb --monitor 'process:port=7400,on=*' --monitor cpu:interval=1s
help-monitors--json = 1 行に一つの JSON オブジェクト。オプションの JSON スキーマを含む
help-monitors--name = すべてではなく、一つのモニター
help-probe =
    一定間隔でほかのホストを調べる: 各方向の遅延とそのばらつき、各方向の損失

    先に各 HOST で `sokudo serve` を起動する。プローブは少なく小さいので、経路上のほかの通信に対して、細く規則的な流れが受ける影響が分かる。
help-probe--count = ちょうどこの数のプローブを送る。--duration がなければ、ほかに終了の条件はない
help-probe--direction = 誰が誰を調べるか
help-probe--direction-mesh = すべてのホストがほかのすべてのホストに要求する
help-probe--direction-up = このホストが各相手に要求する
help-probe--dscp = プローブと応答のサービスクラス (DSCP、0~63)。46 は優先転送 (EF)
help-probe--duration = 測定時間。既定値: 10 s
help-probe--every = プローブの間隔: 100 µs 以上
help-probe--keep = 各フローの最初の N プローブを一つずつ記録に残す
help-probe--size = IP と UDP のヘッダーを除く、プローブと応答のバイト数
help-probe--timeout = これより遅い応答は遅着とし、その遅延は数えない。終了時も応答をこの時間だけ待つ
help-probe-after =
    例:
      sokudo probe hostb                             10 ms ごとのプローブを 10 秒
      sokudo probe hostb --every 1ms --duration 60s  より細かく、より長く
      sokudo probe hostb --dscp 46 --size 200        音声通話のように: 優先転送、200 B
      sokudo probe hostb hostc --direction mesh      すべてのホストが互いに調べる
      sokudo probe hostb --sweep every=10ms,1ms,200us    プローブの数は経路に影響するか
      sokudo probe hostb --find 'p99<1ms,loss<0.1%'  条件を満たす最高のレート

    往復時間には一つの時計で足ります。片道の遅延は二つの時計を比べるため、比較の誤差より小さくない
    場合だけ表示します。同じホスト上ではその誤差はありません。
help-recover = プログラムが異常終了した実行の記録を完成させる
help-recover--group = エージェントが参加し、異常終了したコントローラーが受け取らなかった分を保持しているグループ。既定値: 実行のコマンドが示すもの
help-recover--no-collect = エージェントに問い合わせない。それらが保持する分は失われる
help-replicate =
    ファイルの木を別のホストへ複製する、または取得する。

    先に相手のホストで `sokudo serve --path DIR` を、読み書きさせるディレクトリーを指定して起動する。異なるものだけを送る。宛先の名前は常に古いファイルか新しいファイルを示し、途中で切れた実行は、ファイルの途中からも次の実行が続ける。
help-replicate-after =
    例:
      sokudo replicate /srv/data hostb:/srv/data             異なるものを送る
      sokudo replicate hostb:/srv/data /srv/data             取得する
      sokudo replicate /srv/data hostb:/srv/data --dry-run   何を送ることになるか
      sokudo replicate /srv/data hostb:/srv/data --delete --exclude '*.tmp'
      sokudo replicate /srv/data hostb:/srv/data --verify    すべての内容を比べ、何も変えない
      sokudo replicate /srv/data hostb:/srv/data --mirror 8h その後の変更を追う
      sokudo replicate /srv/data hostb:/m hostc:/m           複数のホストへ同時に
      sokudo replicate /srv/data b:/m c:/m d:/m --relay 1    各ホストから次のホストへ
      sokudo replicate --specs mirrors.toml                  ファイルの仕様を予定に従って
      sokudo replicate dataset:10000x10KB hostb:null         ディスクなしではどれだけ速いか
      sokudo replicate dataset:10x1GB hostb:/srv/t --level none --sweep connections=1,2,4,8

    HOST にはポートを付けられる: hostb:7005:/srv/data。データセットは送りながら作る: NxSIZE、複数は `,`、
    または `mixed`。中身は --content で指定する。
help-replicate--batch = 一つのフレームに入れる小さなファイルのバイト数、最大 1 MiB。`0B` ならファイルごとに一つのフレーム
help-replicate--buffer = 各接続の送受信バッファー。指定するとシステムの自動調整は止まる
help-replicate--cc = 輻輳制御: このシステムでの名前で `cubic`、`bbr` など
help-replicate--checksum = 大きさと時刻が等しくても内容を比べる（BLAKE3）
help-replicate--chunk = 一つのフレームに入れる大きなファイルのバイト数、64 KiB から 1 MiB
help-replicate--connections = 内容のための接続数。1 本の接続がウィンドウや損失に制限されるとき、増やすと速くなる
help-replicate--delete = 元にないものを削除する
help-replicate--dry-run = 何も変えず、行うことを数える
help-replicate--from = 元: DIR、HOST:/DIR、または dataset:NxSIZE
help-replicate--interval = サンプルの間隔
help-replicate--keep = 内容のほかに複製するもの
help-replicate--keep-attributes = 拡張属性とアクセス制御リスト
help-replicate--keep-mode = 許可ビット
help-replicate--keep-owner = 所有者とグループ。受信側が設定できる場合
help-replicate--keep-times = 最終変更時刻
help-replicate--level = 圧縮: `none`、zstd のレベル 1 から 19、または `auto`。`auto` は回線と圧縮の速さから none、1、2、3 を選ぶ。圧縮済みに見えるものはそのまま送る
help-replicate--limit = 送信側が書くバイト数、一つの宛先への全接続の合計: `20Mb/s`。送信側の時刻で変えるなら `Mon-Fri 09:00-18:00 20Mb/s, none`。当てはまる最初のものを使う
help-replicate--max-delete = --delete とともに: これより多くの名前が消えるなら何も削除しない
help-replicate--mirror = 複製のあともこの時間だけ続け、元の変更を送ります (`8h`)。Ctrl-C で早く終えられます
help-replicate--once = --specs とともに: 予定によらず、それぞれを今一度だけ実行する
help-replicate--web = --specs とともに: 仕様ごとの行をブラウザーに表示し、すべてをそこから停止できるようにする。127.0.0.1 以外で待ち受けるときは、表示されるアドレスにトークンが含まれる
help-replicate--preset = 回線の種類ごとの設定。出発点であり、指定したオプションが優先する
help-replicate--preset-lan = 速く短い回線: 接続は 1 本、圧縮は回線より速い限り使う
help-replicate--preset-slow = 細い回線: 圧縮を強め、フレームを小さくする
help-replicate--preset-wan = 長い回線: 各接続がウィンドウや損失に制限されるため、接続を増やす
help-replicate--relay = ホストからホストへ送り継ぐ。このホストを含む各ホストがこの数のホストへ送り、木の形に広がる。各ホストは全体を受け取ってから送り始める。失われたホストの先には届かない
help-replicate--resync = --mirror とともに: システムが変更を知らせるかどうかによらず、この間隔で元の全体も調べる: `6h`
help-replicate--specs = このファイルの仕様を、それぞれの予定に従って実行する。何をどこへ送るかを、このコマンドのオプションと同じ名前で書く。併せて指定したオプションは、ファイルに書かれていないものに使う
help-replicate--predict = 先に複製元、経路、宛先を調べて所要時間を予測し、実測と比べる。数秒かかる。--dry-run は常に予測する
help-replicate--to = 宛先: DIR、HOST:/DIR、またはすべて捨てる HOST:null。複数のホストでは同じディレクトリー
help-replicate--transport = 内容を運ぶもの
help-replicate--transport-tcp = 暗号化しない TCP。両端の証明の後に使う
help-replicate--transport-tls = TCP 上の TLS 1.3。受信側の鍵を固定する
help-replicate--verify = 内容を比べ、何も変えない。違いがあれば実行は失敗になる
help-replicate--whole-file = 宛先にブロックの大半があっても、変わったファイルを丸ごと送る
help-report = 実行の結論を出し直し、レポートを書き直す
help-report--form = レポートの形式
help-report--form-html = それだけで開ける 1 ページ
help-report--form-markdown = Wiki や issue に貼れる文章
help-report--output = 書き込むファイル。既定値: 記録内の report.html。Markdown は標準出力
help-router =
    Ctrl-C まで、拠点のエージェントのメッセージをコントローラーへ中継する

    拠点のエージェントがこのホストに接続し、このホストがコントローラーに接続する。指示を運ぶだけで、読むことも作ることもできない。
help-router--bind = 待ち受けるアドレス: エージェント用の UDP と、参加用の同じ番号の TCP
help-router--group = このホストがルーターとして以前に参加したグループ
help-router--join = `sokudo group token GROUP --router` が表示した行。コマンドラインは同じホストのほかのユーザーにも見えるため、見せたくない場合は環境変数で渡す
help-router--name = グループ内での名前。既定値: このホストの名前
help-router-after =
    例:
      sokudo group token lab --router                    コントローラー上で: 次の行を表示する
      sokudo router --join sj1-…@192.0.2.10:7412         拠点の 1 台で
      sokudo agent --join sj1-… --via 10.0.0.5:7412      ほかのホストで
      sokudo router lab                                  後で、トークンなしで戻る
help-rr =
    リクエストを送って応答を待つ: ホスト間のレイテンシーと毎秒のリクエスト数

    先に各 HOST で `sokudo serve` を起動する。往復はすべて記録する。
help-rr--connections = 各相手への接続数。スレッドで分け合う。既定値: スレッドごとに一つ
help-rr--count = スレッドごとにちょうどこの数のリクエストを測定する。--duration がなければ、失敗が続いて 10 秒と --timeout の 3 倍の間応答がないときにも終わる
help-rr--duplex = 両方向に同時に送る: 相手は受信中のリクエストを折り返し、こちらは書きながら読む
help-rr--nagle = カーネルが小さなセグメントを送る前に次のバイトを待つ (Nagle アルゴリズム)。小さなリクエストを複数同時に進めるとき (--window) の影響を測る
help-rr--rate = このホストがすべての相手に対して毎秒開始するリクエスト数: `20k/s`。レイテンシーは予定時刻から数える。既定値: 閉ループ (応答が次のリクエストを始める)
help-rr--threads = 相手ごとのスレッド数 (両端)
help-rr--timeout = この時間応答のないリクエストを失敗とする。接続は閉じ、UDP では失われたとみなす
help-rr--window = 接続ごとに、応答を待たずに送れるリクエスト数
help-rr-after =
    例:
      sokudo rr hostb                                1 接続、64 B、一度に 1 リクエスト
      sokudo rr hostb --rate 10k/s --duration 60s    開ループ: 予定時刻からのレイテンシー
      sokudo rr hostb --find 'p99<1ms'               条件を満たす最高のレート
      sokudo rr hostb --sweep rate=1k/s..64k/s:x2    負荷に対するレイテンシーと屈曲点
      sokudo rr hostb --connections 1000 --threads 2 多数の接続
      sokudo rr hostb --size 64:4KiB --window 8      小さなリクエスト、長い応答、一度に 8 件
      sokudo rr hostb --wait spin --transport udp    この 2 台で出せる最短のレイテンシー

    --rate がなければ閉ループです: 応答が次のリクエストを始めるため、相手が止まっても 1 件の
    リクエストしか遅れを見ません。--rate があれば、その間に要求したはずのすべてが遅れを見ます。
help-rrul =
    無負荷時と、上り・下り・両方向の負荷の下でのレイテンシーを測る: バッファーブロートとその評価

    先に HOST で `sokudo serve` を起動する。TCP ストリームが経路を埋める間、データグラムと TCP のメッセージを毎秒 50 ずつ送って往復時間を測る。flent の同名のテストと同じ方法。
help-rrul--duration = 四つの区間それぞれの時間
help-rrul--host = `sokudo serve` が動いているホスト: HOST または HOST:PORT
help-rrul--streams = 各方向の TCP ストリームの数
help-rrul-after =
    例:
      sokudo rrul hostb                              10 秒の区間を四つ
      sokudo rrul hostb --duration 30s --streams 8   より長く、より重い負荷で
      sokudo link run --rate 20Mb/s --queue 1MB -- sokudo rrul b     深いキューで悪い評価を見る

    評価は DSLReports の速度テストと同じ基準です。上りの負荷と下りの負荷が往復時間の中央値に加える時間の
    平均が、A+ は 5 ms 未満、A は 30 ms 未満、B は 60 ms 未満、C は 200 ms 未満、D は 400 ms 未満、それ以上は F。
help-run = スクリプトを実行する: コンソールの行 (.sks) または JavaScript (.js)
help-run--file = スクリプト
help-run--hosts = ホスト: `sokudo serve` が動いている HOST または HOST:PORT、グループの全ホストは GROUP、その 1 台は GROUP/NAME
help-run--interval = モニターのサンプル間の時間
help-run--max-skew = フェーズ内のフローの開始時刻のずれの上限 `2ms`。超えたフェーズは 2 回まで繰り返し、それでも超えればチェックを不合格とする。ホスト間では時計の誤差が加わる
help-run--quiet-phase = フェーズ中は負荷だけを流す。ホストは記録を終了まで手元に置き、停止したホストはその時点で分かる
help-run--allow-unsafe = クラッシュ時にコミットを失うかデータが壊れるおそれのあるデータベースサーバーの設定 (fsync=off など) を許す
help-run--set = JavaScript のシナリオのパラメーターを設定する。複数の値はコンマ区切り
help-run-after =
    例:
      sokudo run switch.sks lab             コンソールの行を、グループ lab のホストで
      sokudo run switch.js lab              プログラム: ループと、結果による分岐
      sokudo run mesh.js --local 4          このマシン内の 4 ホストで
      sokudo run examples/was/study.js      このホストだけで (ホスト 1)
      sokudo run examples/sql/settings.js --set dsn=postgres://…   サーバーの設定を交互に測る

    プログラムから呼べるものは `sokudo scenario types` で表示できます。
help-runs = 記録した実行を新しい順に一覧する
help-runs--json = 1 行に一つの JSON オブジェクト
help-scenario = ホストの情報からスクリプトを作る
help-scenario-after =
    例:
      sokudo scenario pairs lab --pairs 5             5 組が同時にデータを交換する
      sokudo scenario pairs lab --emit > mine.sks     そのスクリプト。自由に変更できる
      sokudo scenario pairs lab --emit --javascript   同じものをプログラムとして
      sokudo scenario types > sokudo.d.ts             プログラムから呼べるもの (エディター用)
help-scenario-pairs = ホストの組が、すべて同時に、互いにデータを送り合う
help-scenario-pairs--duplex = 両方向に同時に送る
help-scenario-pairs--emit = 実行する代わりにスクリプトを表示する
help-scenario-pairs--hosts = ホスト: `sokudo serve` が動いている HOST または HOST:PORT、グループの全ホストは GROUP、その 1 台は GROUP/NAME
help-scenario-pairs--interval = モニターのサンプル間の時間
help-scenario-pairs--javascript = JavaScript として表示する
help-scenario-pairs--max-skew = フェーズ内のフローの開始時刻のずれの上限 `2ms`。超えたフェーズは 2 回まで繰り返し、それでも超えればチェックを不合格とする。ホスト間では時計の誤差が加わる
help-scenario-pairs--pairs = 組の数。既定値: 作れるだけ
help-scenario-pairs--quiet-phase = フェーズ中は負荷だけを流す。ホストは記録を終了まで手元に置き、停止したホストはその時点で分かる
help-scenario-pairs--size = 各組が送り、受け取る大きさ
help-scenario-pairs--times = 回数
help-scenario-types = JavaScript のシナリオから呼べるものを、TypeScript の宣言ファイルとして表示する
help-serve =
    Ctrl-C まで、ほかのホストのテストの相手になる

    鍵がなければこのマシンだけを受け付ける。鍵があれば接続は TLS 1.3 となり、サーバーの身元を固定し、有効なチケットの後でだけ負荷が始まる。相手が求めてよいことは、このホストのポリシー (ファイル) が決める。ファイルがなければ、実行に参加するホスト間の 1 時間までの負荷だけ。
help-serve--bind = 待ち受けるアドレス: ADDR、ADDR:PORT、:PORT。既定値: 鍵がなければループバック、あればすべてのアドレス
help-serve--key = この鍵を持つ相手だけを受け付ける
help-serve--max-clients = 同時に受け付ける相手の数
help-serve--new-key = 新しい鍵を作って一度だけ表示し、それを持つ相手だけを受け付ける
help-serve--path = 呼び出し側に、このホストのこのディレクトリーの読み書き（複製）を許す。繰り返せる
help-serve--read-path = 呼び出し側に、このホストのこのディレクトリーからの複製だけを許す。繰り返せる
help-serve--write-path = 呼び出し側に、このホストのこのディレクトリーへの複製だけを許す。繰り返せる
help-serve--open = 鍵のない相手も受け付ける: このポートに届く誰でも、このホストを通して負荷をかけられる
help-serve-after =
    例:
      sokudo serve                 このマシンだけ
      sokudo serve --new-key       すべてのアドレス。相手に渡す鍵を表示する
      SOKUDO_KEY=sk1-… sokudo serve   同じ鍵をもう一度使う
      sokudo serve --print-policy  相手はこのホストに何をさせられるか (ファイルの例は `sokudo agent --help`)
help-show = 実行をもう一度表示する: 判定、数値、記録
help-sokudo = 分散システムの性能を測定し、説明し、調整し、証明する
help-sokudo-after =
    例:
      sokudo check                         このマシンの性能は? 2 分ほど、準備なし
      sokudo serve                         一方のホストで …
      sokudo datagram HOST                 … もう一方で: 毎秒いくつのデータグラムが届くか
      sokudo datagram HOST --find 'loss<0.1%'   条件を満たす最高のレート
      sokudo show latest                   最新の結果をもう一度
      sokudo why latest                    限ったものと、その根拠
      sokudo doctor                        このシステムの機能と、変更すべき点

    終了コード: 0 問題なし、1 チェックが不合格、2 使い方の誤り、3 実行が失敗または不完全。
help-stream = 接続で大量のバイトを送る: グッドプット、その負担、制限している要因
help-stream--bins = バイトレートの集計幅。狭くすると、スロースタートや遅延 ACK による空白が見える
help-stream--bytes = 接続ごとにちょうどこのバイト数を送る。--duration がなければ、ほかに終了の条件はない
help-stream--cc = 輻輳制御: `cubic`、`bbr` など、このシステムでの名前。両端に適用する
help-stream--direction = 誰が誰に送るか
help-stream--direction-both = 両方が同時に送る
help-stream--direction-down = 各相手がこのホストに送る
help-stream--direction-mesh = すべてのホストがほかのすべてのホストに送る
help-stream--direction-up = このホストが各相手に送る
help-stream--discard = 受信側のカーネルでバイトを数えて捨てる (MSG_TRUNC)。プログラムが受け取れる量ではなく、経路が運べる量が分かる
help-stream--dscp = DSCP の値 (0~63)
help-stream--interval = スレッドの負荷と待ちの原因のサンプル間の時間
help-stream--io = バイトをカーネルに渡す方法 (tcp、mptcp): `plain` はコピー、`zerocopy` はページを貸し、`sendfile` はメモリー上のファイルから送る。`auto` は 1 秒間試して最も速いものを使い、読む側は最大 256 KiB たまってから起こす
help-stream--io-auto = ループバックでの短い試験で最も速かったもの。読む側は多くのバイトがたまってから起こす
help-stream--io-plain = カーネルがコピーする
help-stream--io-sendfile = カーネルがメモリー上のファイルのページを送る
help-stream--io-zerocopy = 可能な場合、カーネルがプログラムのページを使う (MSG_ZEROCOPY)
help-stream--mss = セグメントのペイロードの上限 (TCP_MAXSEG)
help-stream--nagle = カーネルが小さなセグメントを送る前に次のバイトを待つ (Nagle アルゴリズム)
help-stream--pacing = カーネルが各接続を間引く最高のレート (SO_MAX_PACING_RATE): `100Mb/s`
help-stream--rate = このホストが全接続でかける負荷: `500Mb/s`、または書き込み回数 `2k/s`。既定値: 受け取られる限り
help-stream--rcvbuf = 受信バッファー。設定するとシステムの自動調整は無効になる
help-stream--read-rate = 受信側は接続ごとにこれより速く読まない (意図的に遅い読み手)
help-stream--size = 1 回の書き込みでシステムに渡すバイト数。読み込みも同じ、または 128 KiB の大きいほう。既定値: 128 KiB。--io auto ではここで最も速いもの
help-stream--sndbuf = 送信バッファー。設定するとシステムの自動調整は無効になる
help-stream--streams = 相手と方向ごとの並列接続数
help-stream--threads = 一つの相手と方向の接続を分け合うスレッド数 (両端)。既定値: 接続ごとに一つ
help-stream--timeout = この時間何も受け取らない接続を打ち切る
help-stream--transport = バイトのトランスポート
help-stream--transport-mptcp = 複数経路を同時に使う TCP (カーネルが対応している場合)
help-stream--transport-quic = QUIC 接続の 1 ストリーム
help-stream--transport-shm = 両端が共有するメモリー。両端ともこのホスト上にあること
help-stream--transport-tcp = TCP。小さなメッセージもすぐに送る (Nagle なし)
help-stream--transport-tls = TCP 上の TLS 1.3
help-stream--transport-udp = UDP。1 メッセージにつき 1 データグラム
help-stream--transport-unix = このホストのソケット。両端ともこのホスト上にあること
help-stream--window-clamp = 相手に示す受信ウィンドウの上限 (TCP_WINDOW_CLAMP)
help-stream-after =
    例:
      sokudo stream hostb                            1 TCP 接続、できるだけ速く 10 秒
      sokudo stream hostb --direction both           両方向に同時に
      sokudo stream hostb --streams 8 --cc bbr       8 接続、別の輻輳制御
      sokudo stream hostb --transport tls            暗号化の負担
      sokudo stream hostb --io auto                  このホストで最も速い書き込み方
      sokudo stream hostb --bytes 1GiB               1 ギガバイトにかかる時間
      sokudo stream hostb --rate 500Mb/s --bins 5ms  一定の負荷と、その空白
      sokudo stream hostb --sweep streams=1,2,4,8    必要な接続数
      sokudo stream hosta hostb hostc --direction mesh   すべてのホストがほかのすべてに送る

    先に各 HOST で `sokudo serve` を起動してください。グッドプットは、受信側のプログラムが受け取った量を
    受信側の時間で割った値です。両端の数はバイト単位で一致します。
help-target = アプリケーションサーバーのキューを持つサーバーを起動し、キューを見て、設定を変える
help-target-after =
    例:
      sokudo target app                            サーバーを Ctrl-C まで動かす
      sokudo target app --set pool.max=10 --db postgres://bench@127.0.0.1/bench
      sokudo jmx run examples/was/stress.jmx -J THREAD_NUMBER=25 -J SUSTAIN=60 --monitor target
      sokudo target stat --watch                   どのキューがたまるか
      sokudo target set pool.max=50                実行中に変える
      sokudo target set pool.max=50 --hold         Ctrl-C まで。その後は元の値
      sokudo target restore                        すべて起動時の値に戻す
help-target-app =
    サーバーを起動する: accept キュー、接続数の上限、ワーカースレッド、接続プール、データベース。

    `/` は何もせずに応答する。`/stress/…` はパラメーター searchTime、interval、duration、bit、updateTime に従い、接続を取り、素数を掛け、もう一度接続を取る。専用スレッドの管理ポートが、すべてのキューの長さと待ち時間を示す。
help-target-app--db = プールのデータベース: `postgres://USER@HOST/DB`、`mysql://USER@HOST/DB`、`sqlite:PATH`、`sim:`。`--set pool.url=URL` と同じ
help-target-app--file = 設定のファイル (TOML)。すべての設定は `--print` で見られる
help-target-app--preset = リクエストに指定がないときに `/stress/…` が行うこと
help-target-app--print = 設定をファイルの形で表示して終わる
help-target-app--settings = 設定を 1 つ。何度でも指定でき、ファイルとプリセットより優先する
help-target-restore = ターゲットの実行中に変えた設定を元に戻す
help-target-restore--json = 変更ごとに 1 行 1 つの JSON オブジェクト
help-target-restore--to = 残す変更の最後の番号。0 ならすべて元に戻す
help-target-set =
    ターゲットの実行中に設定を変える。指定がなければすべての設定を表示する。

    すべて変えるか、まったく変えないかのどちらか。変更ごとに元の値と新しい値を表示し、`restore` で元に戻せる。
help-target-set--hold = Ctrl-C まで、または指定した時間 (`--hold=30s`) だけ値を保ち、その後元の値に戻す。このコマンドが強制終了した場合も戻す
help-target-set--json = 変更ごとに 1 行 1 つの JSON オブジェクト
help-target-set--knobs = 設定とその新しい値
help-target-stat = すべてのキューの長さと待ち時間を表示する
help-target-stat--json = 1 行に 1 つの JSON オブジェクト
help-target-stat--watch = Ctrl-C まで毎秒繰り返す
help-web =
    ホストをブラウザーに表示する: 情報を集め、スクリプトを書き、実行し、見て、停止する

    ページでは `console`、`run`、`scenario pairs` と同じことができる。--listen を指定しない限りこのマシンからだけ使える。指定すると、表示されるアドレスにトークンが付く。
help-web--hosts = ホスト: `sokudo serve` が動いている HOST または HOST:PORT、グループの全ホストは GROUP、その 1 台は GROUP/NAME
help-web--interval = モニターのサンプル間の時間
help-web--listen = ページを提供するアドレス。ポート 0 は空いている任意のポート
help-web--seed = 乱数のシード。既定値: 実行ごとに無作為に決めて記録する
help-web--token = このマシンからもトークンを求め、ほかの利用者を防ぐ
help-web-after =
    例:
      sokudo web lab                        グループ lab のホスト
      sokudo web hosta hostb                `sokudo serve` が動いているホスト
      sokudo web --local 4                  このマシン内の 4 ホストで試す
      sokudo web lab --listen 0.0.0.0:7480  ほかのマシンにも公開する。アドレスにトークンが付く

    表示されたアドレスをブラウザーで開きます。このマシンの外では平文の HTTP を使うため、信頼できる
    ネットワークで使うか、トンネルを通してください (`ssh -L 7480:localhost:7480 HOST`)。
help-why = 何が実行を限ったかを説明する: それぞれの原因の裏付け、反する観測、足りないもの
help-why--allow-unsafe = 試験中にサーバーが異常終了すると失われるものの変更 (ディスクに届く前に応答するコミットなど) を許す
help-why--prove = 原因を試験する。疑わしいオプションの変更ありとなしで交互に測り直し、記録は「確認」となるか、原因が取り下げられる
help-why--rules = 代わりに、すべての規則の兆候としきい値を表示する
