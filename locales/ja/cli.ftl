# Messages of the command line. Keys: cli-<place>-<meaning>.

cli-phase-datagram = 到着 { $rate } ({ $bits })、損失 { $loss }
cli-interim = 到着 { $delivered } データグラム、現在 { $bits }

## Sweeps
cli-knee =
    { $option } を { $first } から { $last } まで上げて下ろします: 最大 { $n } 回、{ $total }
cli-knee-counted =
    { $option } を { $first } から { $last } まで上げて下ろします: 最大 { $n } 回
cli-prove = { $rule } を試験します: --{ $option } { $setting } ありで四回、なしで四回
cli-sweep = { $option } を { $first } から { $last } まで { $n } 段階で測定します。所要時間は約 { $total } です
cli-sweep-counted = { $option } を { $first } から { $last } まで { $n } 段階で測定します。各段階は指定回数に達すると終わります
cli-repeat = { $n } 回続けて測定します。所要時間は約 { $total } です
cli-rehearsed-results = { $line } 行目から先は測定結果を読みます。下見では結果がないため、仮の値で判断した経路だけを確かめました。
cli-rehearsed-long = 下見に許された時間より計算が長いため、その先は確かめていません。
cli-repeat-counted = { $n } 回続けて測定します。各回は指定回数に達すると終わります

## コンソール
console-said = { $text }
console-host = { $number }  { $name } { $address } { $os }、{ $cores } コア
console-clock = { $number }  { $name } 時計のずれ { $offset } ± { $error }
console-clock-same = { $number }  { $name } このホストと同じ時計
console-flow = { $begin } ms  { $from } → { $to }  { $bytes } を { $time } で転送、{ $speed }
console-flow-connected = { $begin } ms  { $from } → { $to }  { $time } で接続
console-flow-answered = { $begin } ms  { $from } → { $to }  { $requests } リクエスト、{ $time }、{ $rate }、p99 { $p99 }
console-flow-probed = { $begin } ms  { $from } → { $to }  プローブ { $probes } 個、損失 { $loss }、往復の中央値 { $p50 }
console-flow-done = { $begin } ms  { $from } → { $to }  完了
console-flow-dead = { $begin } ms  { $from } → { $to }  結果なし: { $why }
console-flow-silent = { $begin } ms  { $from } → { $to }  完全な結果がありません
console-stall-evidence = { "" }    { $says }
console-flow-lost = { $from } → { $to } は、どちらかのホストが失われたため除きました
console-flows-more = ほかに { $n } フロー。すべて記録にあります
console-stopped = 停止しました。それまでの測定値は残ります
console-results = { $n } ホストの結果が揃いました
console-results-missing = { $wanted } ホストのうち { $n } ホストの結果だけが届きました。結果のないフロー: { $flows }
console-results-never-asked = { $wanted } ホストのうち { $n } ホストの結果だけが届きました。ほかに仕事のあるホストはありません
console-help-hosts = hosts                                参加しているホストの番号、名前、アドレス
console-help-synctime = syncTime [ERROR]                     すべての時計をこのホストと比べる。誤差が ERROR 以内のときだけ進む
console-help-all = all COMMAND                          すべてのホストが行う
console-help-node = node N COMMAND                       ホスト N が行う。1,3,5-8 とも書ける
console-help-stage = stage N|all COMMAND                  `node N set COMMAND` と同じ
console-help-fire = fire                                 `all enter` と同じ
console-help-autopairs = autopairs [N]                        先頭の N ホストが別の N ホストへ接続する。省略すると組めるだけ
console-help-waittime = waittime MS                          指定したミリ秒だけ待つ
console-help-sleep = sleep TIME                           同じく 500ms、2s など
console-help-monitor = monitor NAME[:KEY=VALUE,…]           このモニターでも観測する (例: process:port=8080)
console-help-waitallresults = waitallresults [N] [TIMEOUT]         N ホストの結果を待つ。結果のないものは名前を示す
console-help-help = help [WORD]                          この説明
console-help-quit = quit                                 終わる。記録は残る
console-help-connect = … connect HOST                       接続時間を測る。以後の負荷はそこへ送る
console-help-connectnode = … connectnode N                      番号で接続する
console-help-disconnect = … disconnect                         接続先を忘れる
console-help-sendreceive-n = … sendreceive-n SIZE TIMES [OPTIONS]  SIZE を送って送り返させることを TIMES 回。--duplex は双方向同時
console-help-set = … set COMMAND                        コマンドを入力欄に入れる
console-help-enter = … enter                              入力欄のコマンドを実行する
console-help-clr = … clr                                入力欄を空にする
console-help-also = { "" }                                     { $also } とも書く
console-help-load = … { $word } [PEER…] [OPTIONS]  { $question }
console-help-load-url = … { $word } ADDRESS [OPTIONS]      { $question }
console-help-unknown = `{ $word }` という言葉はありません。`help` で一覧を示します
console-asks-bus = メッセージバスは毎秒何件のメッセージを運び、それぞれどれだけかかるか
console-asks-crr = 接続して 1 回尋ね、応答を得るまでどれだけかかるか
console-asks-datagram = 毎秒何個のデータグラムが届き、残りはどこで失われるか
console-asks-dns = ネームサーバーは毎秒いくつの問い合わせに答え、それぞれにどれだけかかるか
console-asks-dbt1 = ネット店のデータベースは毎秒いくつの操作に耐え、注文の計算は合うか
console-asks-dbt2 = 業務トランザクションの組み合わせで、データベースは毎分いくつの注文を受けられ、帳簿は合うか
console-asks-dbt3 = データベースは分析クエリーに毎時いくつ、順に、また同時に答えられるか
console-asks-sqlmix = 自分で決めたトランザクションの組み合わせを、データベースは毎秒いくつ実行し、競合はどれだけ負担になるか
console-asks-tpcb = データベースは毎秒いくつの振替を確定し、そのすべてを保持するか
console-asks-http = Web サーバーは毎秒何件のリクエストに応答し、それぞれどれだけかかるか
console-asks-probe = データグラムは片道ずつどれだけかかり、どれだけ揺らぐか
console-asks-rr = 応答までどれだけかかり、毎秒何件のリクエストに応答があるか
console-asks-stream = 1 本の接続は毎秒何バイト運び、何がそれを抑えるか

## テストリンク
link-way = { $from } → { $to } ({ $address }): { $properties }
link-rate = { $value }
link-no-rate = 速度の制限なし
link-queue = キュー { $value }
link-delay = 遅延 { $value }
link-jitter = ジッター最大 { $value }
link-loss = 損失 { $value }
link-by-kernel = カーネルが運びます: { $kinds }
link-by-tun = 2 つの TUN デバイスの間でこのプログラムが運びます
link-by-tun-because = 2 つの TUN デバイスの間でこのプログラムが運びます: { $why }
link-fast = このプログラムは { $rate } を運べないかもしれません。測定したところでは { $ease } まで余裕がありました
link-silent = `{ $command }` はまだ待ち受けていませんが、先に進みます
link-counted = { $from } → { $to }: { $packets } パケット、{ $bytes } · キューあふれ { $queue }、損失 { $loss } · キュー最大 { $most }
link-overflowed = ホスト { $to } は { $packets } パケットを受け取りませんでした。ホスト自身のキューがいっぱいでした
link-late = 配達の遅れは最大 { $late }
link-unknown = 不明

## Target
target-stress = 負荷用: http://{ $at }/stress/x?searchTime=20&interval=500&duration=2&bit=1024&updateTime=20
target-stat = キューを見る: sokudo target stat --watch
target-set = 設定を変える: sokudo target set pool.max=50
target-monitor = 負荷と一緒にキューを記録する: sokudo http http://{ $at }/stress/x --monitor target:at={ $admin }
target-key = 別のホストから: { $variable }={ $key }
target-few-files = システムが許すオープンファイルは { $files } 個です。listen.max_open と fault.leak_fds には { $wanted } 個必要です
target-left = 前のターゲットは設定を変えたまま強制終了しました。変更はそのとき失われています: { $changes }
target-put-back = 設定を保持していた { $by } から 5 秒間応答がないため、元に戻しました: { $changes }
target-recovered = { $by } が { $at } の設定を保持したまま強制終了したため、元に戻しました: { $changes }
target-recovered-itself = { $by } が { $at } の設定を保持したまま強制終了しました。設定はターゲットがすでに元に戻したか、ターゲットがもうありません
target-stopping = 終了しています
target-line-front = accept キュー { $queue }/{ $limit }   接続 { $open }/{ $max }   拒否 { $away }
target-line-workers = ディスパッチキュー { $queued }   ワーカー { $active }/{ $max }   待ち { $wait }   処理 { $service }
target-line-pool = プールのキュー { $waiting }   接続 { $used }/{ $max }   待ち { $wait }   保持 { $hold }
cli-copies = { $rate } · 待ち { $files } ファイル、{ $bytes }
cli-copies-left = { $rate } · 残り { $files } ファイル、{ $bytes } · 約 { $time }
cli-copies-left-least = { $rate } · 待ち { $files } ファイル、{ $bytes } · 少なくとも { $time }（調査中）
console-asks-replicate = ファイルの木を別のホストへ送るのにどれだけかかり、何が制限するか？

## A load while it goes on
live-progress = { $of } 中 { $elapsed }、残り { $left }
live-elapsed = { $elapsed } 経過
live-users = ユーザー { $n }
live-errors = エラー { $n }
live-lost = エラーまたは損失 { $share }
live-rate = レート
live-latency = レイテンシー
live-distribution = これまでのレイテンシー
live-answers = 応答と失敗
live-labels = ラベルとフロー
live-hosts = ホスト
live-share = 割合
live-waits = セッションの待ち
live-settings = 有効な設定
live-failed = 失敗
live-keys = q で負荷を止め、測った分を記録します · Ctrl-C を 2 回押すとすぐに終わります
live-too-small = `--live` には { $columns } 桁 { $lines } 行が必要です。この端末は { $has } です
live-no-screen = `--live` にはエスケープコードを受け付ける端末が必要です。負荷は行で表示します
live-http-status-1xx = ステータス 1xx
live-http-status-2xx = ステータス 2xx
live-http-status-3xx = ステータス 3xx
live-http-status-4xx = ステータス 4xx
live-http-status-5xx = ステータス 5xx
live-http-status-other = その他のステータス
live-http-refused = 接続拒否
live-http-resets = リセット
live-http-timeouts = タイムアウト
live-http-closed-early = 途中で切断
live-http-malformed = 不正な応答
live-http-given-up = サーバーが中止
live-dns-no-error = NOERROR
live-dns-no-such-name = NXDOMAIN
live-dns-server-failures = SERVFAIL
live-dns-refused = REFUSED
live-dns-other-codes = その他のコード

## Specifications
specs-green = 緑
specs-yellow = 黄
specs-red = 赤
specs-calls = 接続中
specs-copies = 複製中 { $rate }
specs-ended = { $runs } 回の実行で終了
specs-failed = { $legs } のうち { $failed } が失敗: { $host }: { $why }
specs-follows = 追従中
specs-lag = 遅れ { $time }
specs-left = 残り約 { $time }
specs-left-least = 残り { $time } 以上（元を調査中）
specs-note = 仕様 { $name }
specs-over = { $all } 件の仕様のうち { $failed } 件が失敗しました。
specs-preset = プリセット: { $settings }
specs-queue = 待ち { $files } ファイル、{ $bytes }
specs-waits = { $time } 待機
advise-doing-probe = 測定中: { $step }
advise-doing-trial = 試行中: { $trial }
## Demo
demo-begins =
    デモサーバー { $url }
    別の端末から:
demo-plan = このサーバーを訪れる JMeter のテスト計画: sokudo demo --plan demo.jmx
demo-ends = Ctrl-C で終わります。

## sokudo db

db-init-done = { $target }: { $rows } 行を { $seconds } で作成 ({ $rate })
db-ops-done = { $target }: { $op } に { $seconds }
db-ops-dump = { $target }: ダンプに { $seconds }、{ $bytes }
db-ops-restore = { $target }: リストアに { $seconds }、{ $tables } 個の表の { $rows } 行
db-ops-restore-same = リストアしたすべての表の行が元のデータベースと一致
db-ops-restore-different = リストアした表が元のデータベースと異なります。リストアが正しくないか、ダンプのあとで元の表に書き込みがあります。負荷を止めて、もう一度試してください
db-ops-restore-table = { $table }: リストアした { $rows } 行のチェックサムは { $sum }、元の { $source-rows } 行のチェックサムは { $source-sum }
db-check-broken = { $condition } が成り立たない: { $left } と { $right }
db-check-broken-rows = { $condition } が { $rows } 行で成り立たない
db-check-done = 成り立つ条件 { $kept }、成り立たない条件 { $broken }

## Profiles of settings
compare-profiles-again = { $profile } (再)
compare-profiles-applied = { $profile }: { $settings }
compare-profiles-back = サーバーの設定を元に戻しました。
compare-profiles-not-recovered = 強制終了された測定が { $server } の設定を変えていましたが、元に戻せません: { $why }
compare-profiles-recovered = 強制終了された測定が { $server } の設定を変えていたため、元に戻しました。
compare-profiles-run = { $rounds } 回中 { $round } 回目: { $profile }、{ $rate }
compare-profiles-same = `{ $profile }` を 2 度測った差 (A と B) は { $change } ({ $low } から { $high }) です。ほかのプロファイルでは、これより小さい差は差とみなしません。
compare-profiles-unsure = { $enough } 回未満では何も言えません。同じプロファイル同士の差が分からないためです。

# 待ち受けるコマンドの状態。
status-serving = { $address } で待ち受けています
status-key = 鍵 { $key }
status-other-host = もう一方のホストで: { $command }
status-key-only = 鍵 { $id } を持つものだけを受け入れます
status-open = 公開: このポートに届くクライアントは誰でも、このホストから負荷を送れます
status-local = このマシンだけを受け入れます。ほかのホストを受け入れるには `--new-key`
status-stopping = 終了しています
status-agent = { $name } は { $group } のエージェントです
status-connected = 接続しました
status-leaving = { $group } を離れます
status-controller = { $group } のコントローラー: { $place }
status-each-host = 各ホストで: { $command }
status-each-site-host = この拠点の各ホストで: { $command }
status-valid = 有効期間 { $time }。別のトークンは: { $command }
status-router = { $group } のルーター: { $place }
status-no-watchdog = このプロセスには監視役がありません: { $error }
status-holds-key = { $file } には鍵があります。ほかの誰にも読ませないでください
status-on-router = ルーターで: { $command }
status-here = ここで: { $command }
status-group-made = グループ { $name } を作りました。次は: { $command }
status-name-free = 名前 { $name } は空きました。次に参加するホストが使えます
status-page = ページ: { $url }
status-page-of = { $name } のページ: { $url }
status-target = ターゲットのアプリケーション: { $url }
status-admin = 管理ポート: { $url }
status-lines = 標準入力の 1 行 (Enter) ごとにメッセージを送ります。入力が終わると測定を終えます。
status-complete = 復旧するものはありません: 記録は完全です
status-recovered = { $batches } 件の報告、{ $points } 点を復旧しました。{ $gaps } か所の { $bytes } バイトは読めませんでした
status-no-runs = { $path } にはまだ記録がありません。`sokudo check` を実行すると、1 分ほどで最初の記録ができます。
status-policy = ポリシー { $file }
status-no-policy = { $file } にポリシーがありません: 既定のもの
status-noted = 記録先 { $file }
status-facilities = { $all } 個の機能のうち { $n } 個を使えます。
status-collected = { $group } のエージェント { $agents } 台に、記録にない { $points } 点がありました

# ポリシーが許すこと。
policy-no-workload = 負荷は実行しません
policy-workloads = 負荷: { $list }
policy-reach = 負荷が届く先: { $list }
policy-reach-nothing = なし
policy-reach-and = { $list }、{ $next }
policy-sends-nothing = どこにも送りません
policy-sends = 送信先: { $list }
policy-sends-to-hosts = 送信先: 実行に参加するほかのホスト。それぞれ独自のチケットによる
policy-longest = 最長のフェーズ: { $time }
policy-longest-default = 最長のフェーズ: 1 h。ファイルの複製では 30 日
policy-rate = 最大レート: 各方向 { $rate } (全セッションの合計)。レートの指定が必要
policy-rate-any = 最大レート: このホストの能力まで
policy-connections = 接続: 同時に { $n } (全セッションの合計)
policy-programs = プログラム: 起動しません。シェルも起動しません
policy-files-of-plans = ファイル: テスト計画のオプションが指すもの
policy-files-none = ファイル: sokudo 自身のもの以外は読み書きしません
policy-read = 読み取れるディレクトリー: { $list }
policy-written = 書き込めるディレクトリー: { $list }
policy-no-monitors = モニター: なし
policy-monitors = モニター: { $list }
policy-monitors-own = モニター: このホスト自身の表を読むもの。ほかは明示が必要
policy-monitors-nowhere = モニターの接続先: なし
policy-monitors-reach = モニターの接続先: { $list }

run-ok = 完了
run-missed = 不合格
run-partial = 一部のみ
run-failed = 失敗
run-running = 実行中
run-broken = 破損
headline-lost = 損失 { $share }
headline-sent-again = 再送 { $share }
headline-failed = 失敗 { $share }
headline-knee = 限界点 { $n }
headline-rrul = 負荷による増加 { $n }
headline-dbt3 = 総合値 { $n }
