# メトリクスとモニターの意味。英語は crates/model のメトリクスと、モニターのオプションのドキュメントコメントの文です。
# crates/sokudo/src/cli/reference/meaning.rs が照合します。

## selftest
metric-selftest-sent-packets-per-second = このホストの 1 スレッドがループバックでカーネルに渡せる、毎秒のデータグラム数。ラベル mode
metric-selftest-delivered-packets-per-second = その間に到達する、毎秒のデータグラム数。ラベル mode

## dns
metric-dns-answers = 応答のあった問い合わせ (応答コードは問わない)。ウォームアップは数えない
metric-dns-answers-per-second = その問い合わせの数を負荷の時間 (group.load_seconds) で割った値。系列では区間ごと
metric-dns-asked-per-second = 求められたレート。閉ループではなし
metric-dns-best-rate-per-second = --find の条件を守った最大のレート。新しい測定で確認したもの
metric-dns-client-cpu-ratio = 最も忙しい問い合わせスレッドの CPU 時間の、経過時間に対する割合。1 = 1 コア
metric-dns-client-wait-ratio = 問い合わせスレッドが実行可能なのに CPU がなかった時間の割合
metric-dns-connect-seconds = 負荷の間に作った TCP 接続の確立にかかった時間
metric-dns-empty-answers = コード NOERROR でレコードのない応答。dns.no_error にも数える
metric-dns-error-ratio = エラー、始められなかった問い合わせ、エラーコードの応答を、予定された全件で割ったもの。系列では、区間に終わった問い合わせのうちのエラーの割合
metric-dns-errors = 時間内に応答のない問い合わせ、切れた接続で進行中だった問い合わせ、送れなかった問い合わせ
metric-dns-failed-per-second = 区間に失敗した問い合わせ: 応答がない、またはエラーコードで応答された
metric-dns-late-ratio = 空きがあったのに予定より 1 ms 以上遅れて送った問い合わせの割合
metric-dns-latency-p50-seconds = 区間のレイテンシーの中央値
metric-dns-latency-p99-seconds = 区間のレイテンシーの 99 パーセンタイル
metric-dns-latency-seconds = 問い合わせの予定時刻から応答まで。要約では .min、.mean、.p50、.p90、.p99、.p999、.max を伴う
metric-dns-made-connections = サーバーが閉じた接続の代わりに、負荷の間に作った TCP 接続
metric-dns-no-error = コード NOERROR の応答
metric-dns-no-such-name = コード NXDOMAIN の応答: その名前は存在しない
metric-dns-open-connections = ソケットの数。それぞれが自分のポートを持つ。TCP では接続
metric-dns-other-codes = その他のコードの応答
metric-dns-ports-exhausted = ローカルポートが残っておらず、作れなかった接続
metric-dns-received-bytes = その応答のバイト数。同じくヘッダーは含まない
metric-dns-refused = コード REFUSED の応答: サーバーはこのホスト、またはこの名前には答えない
metric-dns-round-trip-seconds = 1 件ごとのレイテンシー
metric-dns-sent-bytes = 応答のあった問い合わせのバイト数。UDP、TCP のヘッダーは含まない
metric-dns-server-failures = コード SERVFAIL の応答: サーバーは答えを見つけられなかった
metric-dns-service-seconds = 問い合わせを実際に送った時刻から応答まで。閉ループではレイテンシーと等しい
metric-dns-start-delay-seconds = 要求の予定した開始から実際の開始まで。送る余地があったものだけ。生成側自身の遅れで、応答時間には含まれ、実際の開始からの時間には含まれない。応答を待って次を送るときはない
metric-dns-truncated = 収まるように切り詰められた UDP の応答。リゾルバーなら TCP で問い合わせ直すが、この負荷はそうしない
metric-dns-unexpected-messages = 進行中のどの問い合わせの応答でもないメッセージ: 遅れたもの、重複、無関係なもの
metric-dns-unreachable = サーバーのホストが、そのポートで待ち受けるものがないと知らせた回数
metric-dns-unstarted-queries = 時刻が来ても送れなかった問い合わせ。許された数の応答待ちが最後まで続いたため。レート指定がなければ、応答が一つもなかった時間に試せなかった数を、応答の速さから数える
metric-dns-window-full-ratio = --window が許す数だけ応答待ちがあり、待たされた問い合わせの割合

## sql
metric-sql-acknowledged = 印を書いたトランザクションのうち、サーバーが確定を応答したもの。ウォームアップを含む
metric-sql-asked-per-second = 指定されたレート。閉ループではない
metric-sql-attempts = トランザクションの試行の数。成否を問わない
metric-sql-best-rate-per-second = --find の条件を守った最大のレート。新しい測定で確かめたもの
metric-sql-broken-conditions = 終了時に成り立たない、表についての条件の数
metric-sql-cancelled-at-end = 負荷の終了時に途中だったトランザクション。成功にも失敗にも数えない
metric-sql-client-cpu-ratio = 最も忙しい負荷スレッドの CPU 時間を経過時間で割った値。1 = 1 コア
metric-sql-client-cpu-seconds-per-transaction = 負荷のスレッドの CPU 時間を、実行したトランザクション数 (ウォームアップを含む) で割った値
metric-sql-client-wait-ratio = 負荷スレッドが実行できる状態なのに CPU がなかった時間の割合
metric-sql-connect-seconds = 負荷の途中で作り直したセッションの、再接続と文の準備の時間
metric-sql-deadlocks = デッドロックの解消のためサーバーが終わらせた試行 (SQLSTATE 40P01、MySQL 1213)
metric-sql-duplicated-marks = 終了時にデータベースに 2 回以上ある印の数
metric-sql-error-ratio = 失敗と開始されなかったものの、行うべきだった全トランザクションに対する割合。系列では区間内に終わったものに対する失敗の割合
metric-sql-errors = 最終的に失敗したトランザクション: サーバーの拒否、時間内の応答なし、セッションの切断
metric-sql-kept-conditions = 終了時に成り立つ、表についての条件の数
metric-sql-late-ratio = 空いたセッションがあったのに予定時刻から 1 ms より遅れて始まったトランザクションの割合
metric-sql-latency-p50-seconds = 区間のレイテンシーの中央値
metric-sql-latency-p99-seconds = 区間のレイテンシーの 99 パーセンタイル
metric-sql-latency-seconds = トランザクションの予定時刻から最後の文への応答までの時間。再試行を含む。要約では .min、.mean、.p50、.p90、.p99、.p999、.max を付ける
metric-sql-lock-timeouts = 時間内にロックを得られなかった試行 (SQLSTATE 55P03、MySQL 1205、SQLite の busy)
metric-sql-lost-acknowledged = 確定が応答されたのに、終了時にその印がデータベースにないもの。応答したものを失わないサーバーなら 0
metric-sql-lost-sessions = 負荷の途中で切れたセッションの数
metric-sql-made-connections = 失われたセッションの代わりに負荷の途中で作ったセッションの数
metric-sql-open-connections = データベースへのセッションの数
metric-sql-ports-exhausted = 空いたローカルポートがなく作れなかったセッションの数
metric-sql-round-trip-seconds = トランザクション 1 件ごとのレイテンシー
metric-sql-serialization-failures = サーバーがほかと順序付けできなかった試行 (SQLSTATE 40001)
metric-sql-service-seconds = トランザクションが実際に始まってから終わるまでの時間。閉ループではレイテンシーと同じ
metric-sql-start-delay-seconds = 空いたセッションがあったときの、予定時刻から実際の開始までの時間: 生成側自身の遅れ。レイテンシーには含まれ、サービス時間には含まれない。閉ループではない
metric-sql-transactions = サーバーが確定を応答したトランザクションの数。ウォームアップは含まない
metric-sql-transactions-per-second = そのトランザクション数を負荷の時間 (group.load_seconds) で割った値。接続の時間は含まない。系列では区間ごと
metric-sql-unstarted-transactions = 時刻が来たのに、最後まですべてのセッションが使用中で始まらなかったトランザクション。レートの指定がなければ、成功がなかった時間に試せたはずの数
metric-sql-window-full-ratio = 空いたセッションを待ったトランザクションの割合

## dbt2
metric-dbt2-deliveries = 実行した Delivery トランザクションの数
metric-dbt2-delivery-seconds = Delivery トランザクションのレイテンシー
metric-dbt2-new-order-seconds = New-Order トランザクションのレイテンシー
metric-dbt2-new-orders = 実行した New-Order トランザクションの数。予定どおり取り消したものを含む
metric-dbt2-new-orders-per-minute = 負荷の時間 1 分あたりの New-Order トランザクションの数。予定どおり取り消したものを含む
metric-dbt2-order-status-seconds = Order-Status トランザクションのレイテンシー
metric-dbt2-order-statuses = 実行した Order-Status トランザクションの数
metric-dbt2-pace-ratio = 毎分の新規注文数の、端末がその待ち時間で出せる最大の数に対する割合。待ち時間を指定しなければ、ない
metric-dbt2-payment-seconds = Payment トランザクションのレイテンシー
metric-dbt2-payments = 実行した Payment トランザクションの数
metric-dbt2-rolled-back = 予定どおり取り消した New-Order トランザクションの数。1 % は存在しない品目を指定する
metric-dbt2-skipped-districts = Delivery が配送すべき注文を見つけなかった地区の数
metric-dbt2-stock-level-seconds = Stock-Level トランザクションのレイテンシー
metric-dbt2-stock-levels = 実行した Stock-Level トランザクションの数
metric-dbt2-warehouses = データベースの倉庫の数。それぞれに地区 10、顧客 30,000、在庫品目 100,000 がある

## tpcb
metric-tpcb-scale = データベースの支店の数。それぞれに窓口 10 と口座 100,000 がある
metric-tpcb-tps = 毎秒のトランザクション数。接続の時間は含まない。pgbench が tps と呼ぶ値

## group
metric-group-start-late-seconds = フローの最初の送信時刻と合意した開始時刻との差。送信側自身のクロックによる
metric-group-load-seconds = フローのレートを数える時間。ウォームアップ後の最初の予定開始から、予定どおりの、または指定量や操作者が終わらせた負荷の終わりまで。その後も溜まった分が流れ続けた場合は、それだけ長い
metric-group-first-through-seconds = 同じ開始から、フローの最初の応答または到着まで
metric-group-last-through-seconds = 同じ開始から、フローの最後の応答または到着まで
metric-group-failures = それまでに失敗した負荷のリクエストの数。理由ごとに数え、ラベル flow、code、message がフロー、コード、メッセージを表す。系列にだけ現れる
metric-group-hosts = 実行に参加したホストの数。命令を出すホストも、参加していれば含む
metric-group-start-lead-seconds = 命令から開始時刻までの余裕。余裕が最も長かったフェーズの値で、100 ms、直前に全ホストへの命令に要した時間の 2 倍、最大のクロック誤差の 4 倍の合計
metric-group-start-spread-seconds = 各フローが、フェーズの最初のフローより遅れて始まった時間。サマリーには .p50 と .max が載る
metric-group-pairs = グループのチェックで対向させたホストのペアの数 (方向ごとに数える)
metric-group-failed-pairs = そのうち、期待した条件を満たさなかったか、何も届かなかったペアの数
metric-group-dead-pairs = そのうち、少なくとも一つの層で何も届かなかったペアの数
metric-group-slowest-pair-bits-per-second = 最も遅いペアの 1 本の接続が運んだ、毎秒のペイロード
metric-group-median-pair-bits-per-second = 同じく、速さが中央のペアの値
metric-group-worst-pair-latency-seconds = 応答が最も遅いペアで、応答の 99 % が届くまでの時間
metric-group-worst-pair-loss-ratio = 損失が最も大きいペアで失われたデータグラムの割合
metric-group-mesh-bits-per-second = グループの全ホストが互いに同時に送ったとき、全体で運んだ毎秒のペイロード
metric-group-mesh-fairness-ratio = それらの接続の速さの Jain の公平性指数。すべて等しければ 1
metric-group-mesh-loss-ratio = 全ホストが互いに同時に送ったとき失われたデータグラムの割合
metric-group-clock-drift-ratio = ホストのクロックがコントローラーのクロックに対して進む、または遅れる、1 秒あたりの秒数。サマリーには .max が載る
metric-group-clock-drift-error-ratio = そのドリフトの誤差の上限
metric-group-clock-error-seconds = ホストのクロックのずれに含まれうる誤差。サマリーには .max が載る

## host
metric-host-cpu-ratio = 各コアの時間の、状態ごとの割合。ラベル core (all、0、1、…) と state (user、nice、system、irq、softirq、steal、iowait、idle)
metric-host-cpu-frequency-hertz = 各コアの現在のクロック周波数。ラベル core
metric-host-context-switches-per-second = ホスト全体のコンテキストスイッチ
metric-host-interrupts-per-second = ホスト全体の割り込み
metric-host-runnable-threads = 実行中か、CPU を待っているスレッドの数
metric-host-load-1min = 1 分間のロードアベレージ
metric-host-memory-available-bytes = スワップなしで使えるメモリ (MemAvailable)
metric-host-memory-total-bytes = ホストのメモリ
metric-host-swap-used-bytes = 使用中のスワップ
metric-host-pressure-ratio = 一部または全部のタスクが資源を待って止まった時間の割合。ラベル resource (cpu、memory、io) と kind (some、full)
metric-host-nic-receive-bytes-per-second = 受信したバイト。ラベル device
metric-host-nic-send-bytes-per-second = 送信したバイト。ラベル device
metric-host-nic-receive-packets-per-second = 受信したパケット。ラベル device
metric-host-nic-send-packets-per-second = 送信したパケット。ラベル device
metric-host-nic-up = インターフェースが有効でリンクがあれば 1、なければ 0。ラベル device
metric-host-nic-receive-drops = 実行の開始以降に受信時に破棄されたパケット。ラベル device
metric-host-nic-send-drops = 実行の開始以降に送信時に破棄されたパケット。ラベル device
metric-host-nic-errors = 実行の開始以降の送受信エラー。ラベル device
metric-host-udp-receive-buffer-errors = 実行の開始以降の UDP RcvbufErrors: ソケットの受信バッファが満杯で破棄されたデータグラム
metric-host-udp-send-buffer-errors = 実行の開始以降の UDP SndbufErrors
metric-host-udp-no-port = 実行の開始以降の UDP NoPorts: ソケットの開いていないポートに届いたデータグラム
metric-host-udp-checksum-errors = 実行の開始以降の UDP InCsumErrors
metric-host-udp-in-per-second = ソケットに届いたデータグラム
metric-host-udp-out-per-second = ソケットから送信したデータグラム
metric-host-ip-reassembly-failures = 実行の開始以降に再構成できなかった IP フラグメント
metric-host-tcp-segments-in-per-second = 受信した TCP セグメント
metric-host-tcp-segments-out-per-second = 送信した TCP セグメント
metric-host-tcp-retransmits = 実行の開始以降に再送した TCP セグメント
metric-host-tcp-listen-overflows = 実行の開始以降に、accept キューが満杯で破棄された接続
metric-host-tcp-listen-drops = 実行の開始以降に、理由を問わず accept の前に破棄された接続
metric-host-listen-queue-depth = 待ち受け中の TCP ソケットで accept を待つ接続の数。ラベルは address と port
metric-host-listen-queue-limit = 待ち受け中の TCP ソケットで accept を待てる接続の最大数。ラベルは address と port
metric-host-tcp-syn-retransmits = 実行の開始以降に、応答がなく再送した TCP の SYN セグメント
metric-host-protocol-events = 実行の開始以降に、カーネルの IP、ICMP、UDP、TCP が数えた事象。増えたカウンターのみ。ラベル counter (UdpInErrors、TcpExtTCPTimeouts など) は nstat の名前
metric-host-conntrack-entries = カーネルのコネクション追跡 (conntrack) が把握している接続の数
metric-host-conntrack-limit = コネクション追跡が把握できる接続の上限 (net.netfilter.nf_conntrack_max)
metric-host-conntrack-drops = 実行の開始以降に、コネクション追跡が破棄したパケットと、期限前に忘れた接続。ラベル reason (insert_failed、drop、early_drop)
metric-host-tcp-connections = ローカルポートを持つ TCP ソケットの数。待ち受け中のものを含む
metric-host-tcp-time-wait-connections = 終了後もローカルポートを 1 分間保持する TCP 接続の数
metric-host-tcp-local-ports = システムが外向きの接続に割り当てられるローカルポートの数 (net.ipv4.ip_local_port_range)
metric-host-softnet-drops = 実行の開始以降に、コアのバックログキューが満杯で破棄されたパケット。ラベル core
metric-host-softnet-time-squeezes = 実行の開始以降に、コアの受信処理が割り当て (budget) を使い切った回数。ラベル core
metric-host-qdisc-backlog-bytes = デバイスの送信待ち行列 (qdisc) で待つバイト。ラベル device と kind
metric-host-qdisc-backlog-packets = デバイスの送信待ち行列 (qdisc) で待つパケット。ラベル device と kind
metric-host-qdisc-drops = 実行の開始以降に、デバイスの待ち行列 (qdisc) が破棄したパケット。ラベル device と kind
metric-host-qdisc-overlimits = 実行の開始以降に、レートを使い切ったためデバイスの待ち行列 (qdisc) がパケットを留めた、または破棄した回数。ラベル device と kind
metric-host-qdisc-requeues = 実行の開始以降に、デバイスに空きがなく待ち行列 (qdisc) に戻されたパケット。ラベル device と kind
metric-host-disk-read-bytes-per-second = 読み出したバイト。ラベル device
metric-host-disk-write-bytes-per-second = 書き込んだバイト。ラベル device
metric-host-disk-queue-depth = その間隔で処理中だった要求の平均数。ラベル device

## self
metric-self-cpu-ratio = sokudo の各スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア。ラベル thread
metric-self-wait-ratio = 各スレッドが実行可能なのに CPU を得られなかった時間の、経過時間に対する比。ラベル thread
metric-self-throttled-ratio = sokudo の属するコントロールグループの CPU 時間の割り当てを使い切った期間の割合。最も高いグループの値
metric-self-core = sokudo の各スレッドが最後に動いたコアの番号。その名前のスレッドが 1 つのときだけ。ラベル thread
metric-self-resident-bytes = プロセスの常駐メモリ

## process
metric-process-cpu-ratio = プロセスの CPU 時間の、経過時間に対する比。1 = 1 コア。ラベル mode (user、system)
metric-process-resident-bytes = プロセスの常駐メモリ
metric-process-threads = プロセスのスレッド数
metric-process-open-files = プロセスが開いているファイルディスクリプタの数
metric-process-context-switches-per-second = プロセスのスレッドのコンテキストスイッチ。ラベル kind (voluntary、involuntary)
metric-process-read-bytes-per-second = プロセスのためにストレージから読み出されたバイト
metric-process-write-bytes-per-second = プロセスがストレージに書き込ませたバイト
metric-process-open-files-limit = プロセスが開けるファイルディスクリプターの上限 (RLIMIT_NOFILE)
metric-process-busiest-thread-ratio = プロセスのうち最も多く使ったスレッドの CPU 時間を経過時間で割った値。1 = 1 コア
metric-process-wait-ratio = プロセスのスレッドが実行可能なのに CPU を得られなかった時間を経過時間で割った値。全スレッドの合計
metric-process-throttled-ratio = プロセスのコントロールグループ、またはその上位の CPU クォータがプロセスを止めた時間の割合
metric-process-stopped-ratio = シグナルかデバッガーで停止している間 (状態 T と t) は 1、それ以外は 0
metric-process-matches = 指定に一致するプロセスの数。なければ 0。ラベル by

## openmetrics
metric-openmetrics-up = エンドポイントがメトリクスを返せば 1、返さなければ 0
metric-openmetrics-scrape-seconds = エンドポイントの応答が終わるか、打ち切るまでの時間
metric-openmetrics-samples = エンドポイントの応答に含まれるサンプルの数
metric-openmetrics-left-out-samples = 応答のうち、系列の上限を超えて取り込めなかったサンプルの数

## target
metric-target-up = ターゲットの管理ポートが応答したら 1、しなければ 0
metric-target-accept-queue-depth = 確立済みでサーバーがまだ accept していない接続の数
metric-target-accept-queue-limit = accept を待てる接続の最大数
metric-target-connections-open = サーバーが開いている接続の数
metric-target-connections-max = サーバーが開く接続の最大数
metric-target-connections-turned-away = 空きがないためリセットまたは拒否した接続の、実行開始からの数
metric-target-connections-accept-errors = オープンファイル不足などで accept できなかった回数 (実行開始から)
metric-target-workers-active = 要求を処理しているスレッドの数
metric-target-workers-size = ワーカースレッドの数
metric-target-workers-max = ワーカースレッドの最大数
metric-target-workers-queued = スレッドを待つ要求の数
metric-target-workers-rejected = ディスパッチキューが満杯で断った要求の、実行開始からの数
metric-target-workers-timeouts = スレッドを長く待ちすぎた要求の、実行開始からの数
metric-target-workers-wait-seconds-mean = スレッドを待った時間の平均 (区間内にスレッドを得た要求)
metric-target-workers-service-seconds-mean = スレッドが要求にかけた時間の平均 (区間内に終わった要求)
metric-target-workers-done-per-second = 応答した要求の数
metric-target-pool-used = 使用中のデータベース接続の数
metric-target-pool-size = 開いているデータベース接続の数
metric-target-pool-max = データベース接続の最大数
metric-target-pool-waiting = データベース接続を待つ要求の数
metric-target-pool-timeouts = データベース接続を待つのをあきらめた、実行開始からの回数
metric-target-pool-errors = データベースが与えなかった、または壊れた接続の、実行開始からの数
metric-target-pool-wait-seconds-mean = データベース接続を待った時間の平均 (区間内の取得)
metric-target-pool-hold-seconds-mean = データベース接続を保持した時間の平均 (区間内に返されたもの)

## clock
metric-clock-offset-seconds = ホストのクロックからコントローラーのクロックを引いた差
metric-clock-drift-ratio = コントローラーのクロックの 1 秒ごとにホストのクロックが進む秒数。すべての比較に当てはめた直線による
metric-clock-drift-error-ratio = ドリフトの誤差の上限
metric-clock-error-seconds = 最小の往復時間の半分。ずれの誤差の上限

## knee
metric-knee-users = 指定した規則で要求が待ち始めるユーザー数(接続、ストリーム、または上げたオプションの値)。範囲に膝がなければ無い
metric-knee-users-low = knee.users の 95 % 区間の下端
metric-knee-users-high = knee.users の 95 % 区間の上端
metric-knee-most-per-second = 続けられる最大のスループット。飽和した段階の平均
metric-knee-alone-seconds = 最も低い段階での平均応答時間
metric-knee-think-seconds = ユーザーの要求と要求の間の休み。最も低い段階でリトルの法則から残るもの
metric-knee-residual-ratio = リトルの法則からの最大のずれ。スループット×(応答時間+休み)÷ユーザー数−1。0 から遠いなら実行が短すぎるか、見えない要求がある
metric-knee-hysteresis-ratio = 二つ以上の段階が上りより下りで少なかった割合。実行のばらつきを超える分
metric-knee-levels = 試したユーザー数の種類

## sweep
metric-sweep-steps = スイープのステップ数
metric-sweep-failed-steps = 数値を得られなかったステップの数
metric-sweep-knee-step = 屈曲点のステップの番号。負荷の小さい順に 1 から数える。範囲に屈曲点がなければ無い
metric-sweep-knee-value = 屈曲点での、スイープしたオプションの値。基本単位 (毎秒のイベント・ビット・バイト、バイト、ナノ秒) による

## repeat
metric-repeat-runs = 測定を繰り返した回数
metric-repeat-failed-runs = 速さが得られなかった回数

## tcp
metric-tcp-congestion-window-segments = 確認応答なしに送ってよいセグメント数 (tcpi_snd_cwnd)
metric-tcp-congestion-window-bytes = 同じ値をバイトで表したもの。ほかのツールの出力から取り込む
metric-tcp-slow-start-threshold-segments = スロースタートが終わる輻輳ウィンドウ。最初の損失までは無い
metric-tcp-smoothed-rtt-seconds = カーネルが平滑化した往復時間 (tcpi_rtt)
metric-tcp-rtt-variation-seconds = 往復時間の平均偏差 (tcpi_rttvar)
metric-tcp-retransmitted-segments = 接続の開始以降に再送したセグメント
metric-tcp-needless-segments = 相手がすでに受け取っていたと知らせた再送セグメント
metric-tcp-reorderings = セグメントの確認応答が順番どおりでなかった回数
metric-tcp-unacknowledged-segments = 送信済みで確認応答のまだないセグメント
metric-tcp-delivery-rate-bytes-per-second = 相手側が確認応答したバイトの、最新のレート
metric-tcp-pacing-rate-bytes-per-second = カーネルが送信をペーシングするレート。ペーシングがなければ無い
metric-tcp-busy-seconds = 送るデータまたは送信中のデータがあった時間
metric-tcp-receive-window-limited-seconds = そのうち、相手側の受信ウィンドウが満杯だった時間
metric-tcp-send-buffer-limited-seconds = そのうち、自分の送信バッファが小さすぎた時間
metric-tcp-min-rtt-seconds = カーネルが保持する、最近の最小の往復時間 (tcpi_min_rtt)
metric-tcp-lost-segments = カーネルが現在失われたとみなしているセグメント
metric-tcp-sent-segments = 接続の開始以降に送信した、データを持つセグメント。再送を含む
metric-tcp-segment-bytes = 満杯のセグメントのペイロード (tcpi_snd_mss)
metric-tcp-not-sent-bytes = 書き込み済みで未送信のバイト
metric-tcp-peer-window-bytes = 相手側が通知する受信ウィンドウ (tcpi_snd_wnd)
metric-tcp-own-window-bytes = この側が通知する受信ウィンドウ (tcpi_rcv_wnd)
metric-tcp-receive-queue-bytes = 到着済みで、プログラムがまだ読んでいないバイト (SIOCINQ)
metric-tcp-send-queue-bytes = プログラムが書き込み、まだ確認応答のないバイト (SIOCOUTQ)
metric-tcp-delayed-ack-seconds = この側が確認応答を遅らせる最長時間 (tcpi_ato)。一度も遅らせていなければ無い

## datagram
metric-datagram-sent-packets = カーネルが送信側から受け付けたデータグラム
metric-datagram-received-packets = 受信側のプログラムに正しく届いた、重複を除くデータグラム
metric-datagram-delivered-bits-per-second = delivered_bytes_per_second をビットで表した値。系列では間隔ごとの値
metric-datagram-loss-ratio = 送信数に対する欠損数の割合。系列では間隔ごとに、届いた順序番号から求める
metric-datagram-lost-at-sender-packets = 送信側のカーネルが拒否したもの (ENOBUFS、EAGAIN)。送信には数えない
metric-datagram-lost-on-path-packets = 欠損したデータグラムのうち、どちらのホストのカウンターでも説明できないもの
metric-datagram-lost-at-receiver-host-packets = 欠損したデータグラムのうち、受信ホスト内のソケット以外での破棄で説明できるもの (softnet のバックログ、ソケットの破棄を伴わない UDP のエラー)
metric-datagram-lost-at-receiver-socket-packets = 欠損したデータグラムのうち、受信ソケットでの破棄で説明できるもの
metric-datagram-out-of-order-packets = 先に届いたものより小さい順序番号を持つ到着 (RFC 4737 type-P-reordered)
metric-datagram-duplicate-packets = すでに届いた順序番号の到着
metric-datagram-jitter-seconds = 実行の終わりでの、RFC 3550 6.4.1 節の到着間隔ジッタ
metric-datagram-sender-cpu-ratio = 送信スレッドの CPU 時間の、経過時間に対する比
metric-datagram-receiver-cpu-ratio = 受信スレッドの CPU 時間の、経過時間に対する比
metric-datagram-sent-bytes = 送信したデータグラムの、IP と UDP のヘッダーを除くバイト
metric-datagram-received-bytes = 受信したデータグラムの、IP と UDP のヘッダーを除くバイト
metric-datagram-missing-packets = 送信したが届かなかったもの。実行の最初と最後を含む
metric-datagram-corrupted-packets = ヘッダーの検査値または検証したバイトが誤っていた到着
metric-datagram-foreign-packets = 測定用のポートに届いたが、この測定のどのフローのものでもない到着
metric-datagram-success-ratio = received_packets を sent_packets で割った値
metric-datagram-sent-packets-per-second = 送信したデータグラムを負荷の時間 (group.load_seconds) で割った値
metric-datagram-sent-bytes-per-second = 同じ時間あたりの、送信したデータグラムのバイト。IP と UDP のヘッダーは数えない
metric-datagram-delivered-packets-per-second = 受信したデータグラムを負荷の時間 (group.load_seconds) で割った値
metric-datagram-delivered-bytes-per-second = 同じ時間あたりの、受信したデータグラムのバイト。IP と UDP のヘッダーは数えない
metric-datagram-goodput-bytes-per-second = 同じ時間あたりの、受信したデータグラムのペイロードのバイト (--payload を参照)
metric-datagram-sent-wire-bits-per-second = 同じ時間あたりの、送信したデータグラムのイーサネットフレームとしてのビット。断片ごとのイーサネット (14 B)、IP、UDP のヘッダーを含み、プリアンブル、チェックサム、間隔は含まない。UDP のみ
metric-datagram-delivered-wire-bits-per-second = 受信したデータグラムについて同じもの
metric-datagram-asked-packets-per-second = 指定したレート。無制限なら無い
metric-datagram-best-rate-bytes-per-second = 損失を条件の範囲に保った最大の到達レート。あらためて測定して確認したもの
metric-datagram-best-rate-packets-per-second = 同じ値をデータグラムで表したもの
metric-datagram-best-rate-loss-ratio = 最大のレートを確認した実行での損失
metric-datagram-refused-sends = カーネルが ENOBUFS または EAGAIN で拒否した送信呼び出し
metric-datagram-unreachable-errors = 送信側に返ったポート到達不能またはホスト到達不能のエラー
metric-datagram-mean-send-batch-packets = 送信呼び出し 1 回あたりのデータグラム
metric-datagram-mean-receive-batch-packets = データグラムを返した受信呼び出し 1 回あたりのデータグラム
metric-datagram-reordering-extent-mean-packets = 順序の乱れた到着の、順序の乱れの幅 (RFC 4737) の平均
metric-datagram-vendor-mean-offset-packets = 順序の乱れた到着の、到着位置と順序番号の位置との差の平均。データグラムテストが表示する値
metric-datagram-gaps = 飛んだ番号の連なりの数。最初の到着より前と最後の到着より後のものを含む
metric-datagram-gap-mean-packets = 飛んだ番号の連なりの長さの平均
metric-datagram-gap-max-packets = 飛んだ番号の連なりの長さの最大
metric-datagram-gap-mean-seconds = 番号が飛んだ前後の到着の間の時間の平均。二つの到着の間に飛んだ番号がなければ欠ける
metric-datagram-gap-max-seconds = 同じく、最大
metric-datagram-sender-cpu-seconds-per-packet = 送信したデータグラム 1 件あたりの送信スレッドの CPU 時間
metric-datagram-receiver-cpu-seconds-per-packet = 受信したデータグラム 1 件あたりの受信スレッドの CPU 時間
metric-datagram-sender-wait-ratio = 送信スレッドが実行可能なのに CPU を得られなかった時間の、経過時間に対する比
metric-datagram-receiver-wait-ratio = 受信スレッドが実行可能なのに CPU を得られなかった時間の、経過時間に対する比
metric-datagram-late-ratio = 予定時刻から 1 ms を超えて遅れて送信したデータグラムの、送信数に対する割合。無制限なら無い
metric-datagram-receive-buffer-asked-bytes = 要求した受信バッファ
metric-datagram-receive-buffer-granted-bytes = カーネルが割り当てた受信バッファ (Linux は使える大きさの 2 倍を返すため、ここでは半分にした値)
metric-datagram-send-buffer-asked-bytes = 要求した送信バッファ
metric-datagram-send-buffer-granted-bytes = カーネルが割り当てた送信バッファ (Linux では上と同じく半分にした値)
metric-datagram-size-bytes = IP と UDP のヘッダーを除くデータグラムの平均の大きさ
metric-datagram-path-mtu-bytes = 相手側に向かうインターフェースの MTU。カーネルが知っていれば経路の MTU
metric-datagram-processed-bytes = 各データグラムのうち受信側が検証したバイト
metric-datagram-elapsed-seconds = 最初の到着から最後の到着までの受信側の時間
metric-datagram-interarrival-seconds = データグラムを返した受信呼び出しの間隔
metric-datagram-ack-rtt-seconds = 抽出したデータグラムの往復時間。相手側が保持した時間を除く
metric-datagram-lateness-seconds = ペーシングしたデータグラムの、予定時刻に対する実際の送信の遅れ
metric-datagram-reordering-extent-packets = 順序の乱れた各到着の、順序の乱れの幅 (RFC 4737)
metric-datagram-loss-run-packets = 連続して欠けた順序番号の長さ
metric-datagram-sent-bits-per-second = sent_bytes_per_second をビットで表した値。系列では間隔ごとの値

## probe
metric-probe-sent-packets = カーネルが受け付けたプローブ
metric-probe-answered-packets = タイムアウトまでに応答が届いたプローブ
metric-probe-loss-up-ratio = 送信数に対する、上りで失われた割合
metric-probe-loss-down-ratio = 送信された応答に対する、下りで失われた割合
metric-probe-late-packets = 応答がタイムアウトの後に届いたプローブ。損失ではなく、どの分布にも含まない
metric-probe-unsent-packets = 送信スレッドの起床が次のプローブの予定より遅れたため、送らなかったプローブ
metric-probe-jitter-up-seconds = 上りの遅延のジッタ (RFC 3550 6.4.1 節)。共通のクロックを必要としない
metric-probe-jitter-down-seconds = 下りの遅延のジッタ (RFC 3550 6.4.1 節)。共通のクロックを必要としない
metric-probe-clock-error-seconds = 二つのホストのクロックの差の誤差の上限。0 = クロックが一つ。これを下回る片道遅延は示さない
metric-probe-sender-cpu-ratio = 送信スレッドの CPU 時間の、経過時間に対する比
metric-probe-server-cpu-ratio = 応答スレッドの CPU 時間の、経過時間に対する比
metric-probe-lost-packets = 応答のなかったプローブ
metric-probe-lost-up-packets = 相手側に届かなかったプローブ
metric-probe-lost-down-packets = 戻らなかった応答
metric-probe-answers-sent-packets = 相手側が送った応答。プローブの到着ごとに一つ
metric-probe-answer-refused-packets = 相手側のカーネルが受け付けなかった応答
metric-probe-refused-packets = カーネルが受け付けなかったプローブ
metric-probe-duplicate-up-packets = すでに届いたプローブの、相手側への重複した到着
metric-probe-duplicate-down-packets = すでに届いた応答の、重複した到着
metric-probe-out-of-order-up-packets = 後のプローブに追い越されて相手側に届いた到着
metric-probe-out-of-order-down-packets = 後の応答に追い越されて届いた応答
metric-probe-foreign-packets = どちらかの端に届いた、このフローのプローブでも応答でもない到着
metric-probe-loss-ratio = 送信数に対する損失の割合。系列では、その間隔に送ったプローブのうち時間内に応答のなかった割合
metric-probe-asked-packets-per-second = 指定した毎秒のプローブ数
metric-probe-answered-packets-per-second = 応答のあったプローブを負荷の時間 (group.load_seconds) で割った値
metric-probe-best-rate-packets-per-second = --find の条件を満たした最大のレート。あらためて測定して確認したもの
metric-probe-jitter-seconds = 実行の終わりでの、RFC 3550 6.4.1 節による往復時間のジッタ。フローが複数なら最大の値
metric-probe-clock-drift-ratio = その差が負荷の前と後の間に変わった、時間あたりの量
metric-probe-sender-wait-ratio = 送信スレッドが実行可能なのに CPU を得られなかった時間の、経過時間に対する比
metric-probe-rtt-p50-seconds = 間隔ごとの往復時間の中央値
metric-probe-rtt-p99-seconds = 間隔ごとの往復時間の 99 パーセンタイル
metric-probe-each-rtt-seconds = プローブごとの往復時間。時刻は送信の時点 (--keep を参照)
metric-probe-each-owd-up-seconds = プローブごとの上りの遅延。半数がクロック誤差を下回れば無い
metric-probe-each-owd-down-seconds = プローブごとの下りの遅延。半数がクロック誤差を下回れば無い
metric-probe-rtt-seconds = 往復時間。相手側での折り返し時間を除く
metric-probe-owd-seconds = 片道遅延 (両方向)。クロック誤差を下回る値は含まない
metric-probe-owd-up-seconds = プローブの片道遅延。クロック誤差を下回る値は含まない
metric-probe-owd-down-seconds = 応答の片道遅延。クロック誤差を下回る値は含まない
metric-probe-ipdv-seconds = 連続するプローブの往復時間の差の絶対値 (RFC 3393)
metric-probe-ipdv-up-seconds = 連続するプローブの上りの遅延の差の絶対値。共通のクロックを必要としない
metric-probe-ipdv-down-seconds = 連続する応答の下りの遅延の差の絶対値。共通のクロックを必要としない
metric-probe-turnaround-seconds = プローブが相手側に届いてから、応答が送り出されるまでの時間
metric-probe-timer-error-seconds = 各プローブの送信の、予定に対する遅れ
metric-probe-send-call-seconds = 送信呼び出しの所要時間
metric-probe-loss-run-up-packets = 上りで連続して失われたプローブの長さ
metric-probe-loss-run-down-packets = 下りで連続して失われた応答の長さ

## bus
metric-bus-messages = 宛先に届いたメッセージ。ウォームアップは数えない
metric-bus-messages-per-second = それらのメッセージを負荷の時間 (group.load_seconds) で割った値。系列では間隔ごとの値
metric-bus-bytes-per-second = そのバイト。メッセージのヘッダーを含む
metric-bus-bits-per-second = bytes_per_second をビットで表した値
metric-bus-sent-messages = 送信に渡したメッセージ。ウォームアップは数えない
metric-bus-sent-bytes = そのバイト。メッセージのヘッダーを含む
metric-bus-sent-per-second = 送信に渡したメッセージ。間隔ごとの値
metric-bus-sent-bytes-per-second = そのバイト。間隔ごとの値
metric-bus-asked-per-second = 指定したレート。--rate がなければ無い
metric-bus-best-rate-per-second = --find の条件を満たした最大のレート。あらためて測定して確認したもの
metric-bus-answers = 戻った応答
metric-bus-answers-per-second = 戻った応答。間隔ごとの値
metric-bus-missing-messages = 送信したが、接続が切れて届かなかったメッセージ。ウォームアップを含む
metric-bus-unacknowledged-messages = 送信したが、受領通知のなかったメッセージ
metric-bus-unanswered-messages = 応答を求めたが、得られなかったメッセージ
metric-bus-unstarted-messages = 予定時刻が来たのに送られなかったメッセージ。レート指定がなければ、接続が切れた後に試せなかった数を、それまでの速さから数える
metric-bus-relayed-messages = 鎖の途中のホストが次へ渡したメッセージ。ウォームアップを含む
metric-bus-errors = 意図せずに失敗したメッセージと、最初のメッセージより前に失敗した接続
metric-bus-error-ratio = 送る予定だった全メッセージに対するエラーの割合
metric-bus-connections = 使った接続
metric-bus-closed-connections = 測定が終わる前に相手側が閉じた接続
metric-bus-reset-connections = リセットされた接続
metric-bus-silent-connections = --timeout より長く何も戻らなかった接続
metric-bus-undrained-connections = 終わりにバックログが空にならなかった接続
metric-bus-foreign-connections = この測定のメッセージ以外のものが届いた接続
metric-bus-other-errors = ほかの理由で終わった接続
metric-bus-response-latency-seconds = 測るメッセージの予定時刻から応答までの時間。サマリーには .min、.mean、.p50、.p90、.p99、.p999、.max が載る
metric-bus-response-p50-seconds = 間隔ごとの応答レイテンシーの中央値
metric-bus-response-p99-seconds = 間隔ごとの応答レイテンシーの 99 パーセンタイル
metric-bus-response-min-seconds = 間隔ごとの応答レイテンシーの最小値
metric-bus-response-mean-seconds = 間隔ごとの応答レイテンシーの平均
metric-bus-response-max-seconds = 間隔ごとの応答レイテンシーの最大値
metric-bus-service-seconds = 測るメッセージを組み立てた時点から応答までの時間。--rate がなければ応答レイテンシーに等しい
metric-bus-receipt-latency-seconds = 測るメッセージを組み立てた時点から、それを含む受領通知までの時間
metric-bus-receipt-mean-seconds = 間隔ごとの受領通知のレイテンシーの平均
metric-bus-relay-delay-seconds = 鎖の途中のホストがメッセージを保持した時間。最後のバイトの到着から、次の接続が受け取るまで
metric-bus-backlog-bytes = 送信中で受領通知のないバイト
metric-bus-backlog-peak-bytes = 送信中で受領通知のなかったバイトの最大値。全フローの合計
metric-bus-backlog-peak-messages = 1 本の接続で送信中だったメッセージの最大数
metric-bus-backlog-ratio = 送信側がウィンドウの空きを待った時間の割合
metric-bus-backlog-events = 送信側がウィンドウの空きを待った回数
metric-bus-backlog-events-per-second = 送信側がウィンドウの空きを待った回数。間隔ごとの値
metric-bus-queue-bytes = 読み出し済みで、処理スレッドを待っているバイト
metric-bus-queue-peak-bytes = 処理スレッドを待っていたバイトの最大値。全フローの合計
metric-bus-queue-full-ratio = 処理待ちが多すぎて、受信側が読み出しを止めた時間の割合
metric-bus-queue-full-events-per-second = そのために受信側が読み出しを止めた回数。間隔ごとの値
metric-bus-late-ratio = 空きがあったのに、予定時刻から 1 ms を超えて遅れて送られたメッセージの割合
metric-bus-window-full-ratio = ウィンドウの空きを待ったメッセージの割合
metric-bus-write-blocked-ratio = 接続またはウィンドウが満杯で、送信側が進めなかった時間の割合
metric-bus-read-idle-ratio = 受信スレッドがデータを待った時間の割合
metric-bus-sender-cpu-ratio = 最も忙しい送信スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア
metric-bus-sender-wait-ratio = 送信スレッドが実行可能なのに CPU を得られなかった時間の割合
metric-bus-receiver-cpu-ratio = 最も忙しい受信スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア
metric-bus-receiver-wait-ratio = 受信スレッドが実行可能なのに CPU を得られなかった時間の割合

## http
metric-http-requests = ステータスを問わず、応答が完結した要求。ウォームアップは数えない
metric-http-requests-per-second = それらの要求を負荷の時間 (group.load_seconds) で割った値。系列では間隔ごとの値
metric-http-asked-per-second = 指定したレート。スケジュールなら全体の平均。閉ループなら無い
metric-http-best-rate-per-second = --find の条件を満たした最大のレート。あらためて測定して確認したもの
metric-http-latency-seconds = 要求の予定時刻から、応答の最後のバイトまでの時間。サマリーには .min、.mean、.p50、.p90、.p95、.p99、.p999、.max が載る
metric-http-latency-p50-seconds = 間隔ごとのレイテンシーの中央値
metric-http-latency-p99-seconds = 間隔ごとのレイテンシーの 99 パーセンタイル
metric-http-service-seconds = 要求の順番が実際に来た時点から、応答の最後のバイトまでの時間。閉ループではレイテンシーに等しい
metric-http-start-delay-seconds = 要求の予定した開始から実際の開始まで。送る余地があったものだけ。生成側自身の遅れで、応答時間には含まれ、実際の開始からの時間には含まれない。応答を待って次を送るときはない
metric-http-round-trip-seconds = 要求ごとのレイテンシー
metric-http-connect-seconds = 接続にかかる時間。名前解決と TLS を除く
metric-http-handshake-seconds = TLS ハンドシェイクの時間
metric-http-wait-seconds = 要求の最後のバイトから、応答の最初のバイトまでの時間
metric-http-read-seconds = 応答の最初のバイトから最後のバイトまでの時間
metric-http-mean-queue-seconds = 要求の予定時刻から実際の開始までの平均時間。これと続く六つの値の和がレイテンシーになる。系列では間隔ごとの値
metric-http-mean-resolve-seconds = サーバーの名前解決の平均時間 (全要求あたり)
metric-http-mean-connect-seconds = 接続の平均時間 (維持した接続での要求も含む全要求あたり)
metric-http-mean-tls-seconds = TLS ハンドシェイクの平均時間 (維持した接続での要求も含む全要求あたり)
metric-http-mean-send-seconds = 要求の送信の平均時間
metric-http-mean-wait-seconds = 要求の最後のバイトから応答の最初のバイトまでの平均時間
metric-http-mean-read-seconds = 応答の最初のバイトから最後のバイトまでの平均時間
metric-http-errors = 応答が完結しなかった要求
metric-http-failed-per-second = その間隔に失敗した要求: 応答が完結しない、ステータスが 400 以上、またはプランの要求に反するもの
metric-http-error-ratio = 送る予定だった全要求に対する、エラー、開始されなかった要求、ステータス 400 以上の応答の割合。系列では、その間隔に終わった要求のうち失敗した割合
metric-http-unstarted-requests = 最後まで接続が空かず、予定時刻が来たのに送られなかった要求。レート指定がなければ、応答が一つもなかった時間に試せなかった数を、応答の速さから数える
metric-http-late-starts = 接続が空いていたのに、予定時刻から 1 ms を超えて遅れて送られた要求: 負荷生成側自身の遅れ
metric-http-late-ratio = そのような要求の割合
metric-http-window-full-ratio = すべての接続が使用中で待たされた要求の割合
metric-http-active-users = 開始して終わっていない、テストプランのユーザー。1 つの URL への負荷では、始まってまだ終わっていない接続の数 (接続ごとのストリーム数を掛ける)
metric-http-open-connections = 接続の数。同時に処理できる要求は、これに接続ごとのストリーム数を掛けた数まで
metric-http-rows = 負荷生成側が結果ファイルのために渡した、要求ごとの行
metric-http-made-connections = 確立して要求の処理に使った接続
metric-http-ports-exhausted = ローカルポートが残っておらず、確立できなかった接続
metric-http-sent-bytes = 要求のヘッダーとボディのバイト。TLS の前
metric-http-head-bytes = 応答のヘッダーのバイト。TLS の前
metric-http-body-bytes = 応答のボディのバイト。チャンクの枠を除き、サーバーが符号化したままの大きさ
metric-http-status-1xx = ステータス 101 の応答
metric-http-status-2xx = ステータス 200 から 299 の応答
metric-http-status-3xx = ステータス 300 から 399 の応答
metric-http-status-4xx = ステータス 400 から 499 の応答
metric-http-status-5xx = ステータス 500 から 599 の応答
metric-http-status-other = その他のステータスの応答
metric-http-failed-resolve = サーバーの名前解決中に失敗した要求
metric-http-failed-connect = 接続中に失敗した要求
metric-http-failed-tls = TLS ハンドシェイクで失敗した要求
metric-http-failed-send = 送信中に失敗した要求
metric-http-failed-wait = 応答の最初のバイトより前に失敗した要求
metric-http-failed-read = 応答の途中で失敗した要求
metric-http-refused = 接続を拒否された要求: 待ち受けるプログラムがないか、サーバーが接続を断っている
metric-http-resets = 接続をリセットされた要求
metric-http-timeouts = どの段階であれ、打ち切られた要求
metric-http-closed-early = 応答が完結する前にサーバーが接続を閉じた要求
metric-http-malformed = 応答が HTTP の規則、またはヘッダーやトレーラーについての sokudo の上限に反した要求
metric-http-given-up = HTTP/2 で、サーバーが単独で、または接続ごと打ち切った要求
metric-http-resent-requests = HTTP/2 で、サーバーが処理を始めていないと示したため再送した要求。レイテンシーは最初の送信から数える
metric-http-status-429 = ステータス 429 (要求が多すぎる) の応答。ウォームアップを含む
metric-http-status-503 = ステータス 503 (利用できない) の応答。ウォームアップを含む
metric-http-shortest-wait-seconds = できている接続で要求を始めてから、ステータス 400 未満の応答の最初のバイトまでの最短時間。ウォームアップを含む
metric-http-mean-good-seconds = ステータス 400 未満の応答の平均サービス時間。ウォームアップを含む。すべてが 400 未満の場合は値がない
metric-http-mean-bad-seconds = ステータス 400 以上の応答の平均サービス時間。ウォームアップを含む。該当する応答がない場合は値がない
metric-http-unserved-connections = サーバーのシステムは受け付けたが、最初の要求が 0.5 秒を超えて応答のないまま打ち切られた接続
metric-http-stalls = すべての要求が止まった回数。処理中の要求があるのに、20 ms 以上かつ最長の停止の 3 分の 1 以上の間、1 件も終わらなかった
metric-http-mean-stall-seconds = その停止の平均の長さ。負荷生成側が動いていなかった時間は含まない
metric-http-longest-stall-seconds = その停止のうち最長の長さ
metric-http-stall-period-seconds = 停止の開始から次の停止の開始までの平均間隔。1 回だけの場合は値がない
metric-http-stall-irregularity-ratio = その間隔の標準偏差を平均で割った値。0 = 等間隔、約 1 = 不規則
metric-http-first-stall-seconds = 最初の停止の開始。最初の要求からの時間
metric-http-shorter-silences = 20 ms 以上かつ最長の停止の 9 分の 1 以上の間 1 件も終わらなかったが、停止には数えない回数
metric-http-stalled-requests = 停止が終わった時点で処理中だった要求の数。すべての停止の合計
metric-http-compared-users = 維持した接続での平均サービス時間を比べたユーザーの数。遅いユーザーがいない場合は値がない
metric-http-slow-users = そのうち、平均が中央のユーザーの 4 倍以上で、5 ms 以上長いユーザーの数
metric-http-slow-user-seconds = 遅いユーザーの平均サービス時間
metric-http-usual-user-seconds = 中央のユーザーの平均サービス時間
metric-http-path-lowest-seconds = 読み取った接続の最小の往復時間 (tcpi_min_rtt)。10 ms ごとに 1 本を読む
metric-http-path-mean-seconds = 読み取った接続の平滑化した往復時間 (tcpi_rtt) の平均
metric-http-path-sent-segments = 読み取った範囲で、その接続が送ったデータ付きセグメント
metric-http-path-resent-ratio = そのうち再送の割合
metric-http-path-received-segments = 読み取った範囲で、その接続が受け取ったデータ付きセグメント
metric-http-path-out-of-order-ratio = そのうち順序どおりでなかった割合 (tcpi_rcv_ooopack)。失われたセグメントの後、または別の経路
metric-http-path-window-ratio = 送る要求があった時間のうち、サーバーの受信ウィンドウが一杯だった割合
metric-http-path-buffer-ratio = 送る要求があった時間のうち、自側の送信バッファーが足りなかった割合
metric-http-requests-per-cpu-second = イベントループが使った CPU 時間 1 秒あたりの応答。ウォームアップを含む
metric-http-client-cpu-ratio = 最も忙しいイベントループの CPU 時間の、経過時間に対する比。1 = 1 コア
metric-http-client-wait-ratio = イベントループが実行可能なのに CPU を得られなかった時間の割合

## rr
metric-rr-transactions = 応答のあった要求。ウォームアップは数えない
metric-rr-transactions-per-second = 応答のあった要求を負荷の時間 (group.load_seconds) で割った値。系列では間隔ごとの値
metric-rr-errors = 時間内に応答のなかった要求と、接続が切れたとき処理中だった要求
metric-rr-window-full-ratio = 応答のない要求が --window の許す数に達していて、待たされた要求の割合
metric-rr-late-ratio = 空きがあったのに、予定時刻から 1 ms を超えて遅れて送られた要求の割合
metric-rr-latency-sd-seconds = レイテンシーの標準偏差
metric-rr-client-cpu-ratio = 最も忙しい要求スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア
metric-rr-server-cpu-ratio = 最も忙しい応答スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア
metric-rr-asked-per-second = 指定したレート。閉ループなら無い
metric-rr-best-rate-per-second = --find の条件を満たした最大のレート。あらためて測定して確認したもの
metric-rr-latency-seconds = 要求の予定時刻から応答までの時間。サマリーには .min、.mean、.p50、.p90、.p99、.p999、.max が載る
metric-rr-latency-p50-seconds = 間隔ごとのレイテンシーの中央値
metric-rr-latency-p99-seconds = 間隔ごとのレイテンシーの 99 パーセンタイル
metric-rr-service-seconds = 要求を実際に送った時点から応答までの時間。閉ループではレイテンシーに等しい
metric-rr-start-delay-seconds = 要求の予定した開始から実際の開始まで。送る余地があったものだけ。生成側自身の遅れで、応答時間には含まれ、実際の開始からの時間には含まれない。応答を待って次を送るときはない
metric-rr-round-trip-seconds = 要求ごとのレイテンシー。時刻は応答の時点 (--keep を参照)
metric-rr-connect-seconds = 接続にかかる時間。TLS ハンドシェイクを除く
metric-rr-handshake-seconds = TLS ハンドシェイクの時間
metric-rr-request-bytes = 各要求の大きさ。トランスポートのヘッダーを除く
metric-rr-response-bytes = 各応答の大きさ。同じくヘッダーを除く
metric-rr-one-way-bytes-per-second = 要求と応答のバイトを、レイテンシーの平均で割った値
metric-rr-error-ratio = 送る予定だった全要求に対する、エラーと開始されなかった要求の割合。系列では、その間隔に終わった要求のうちエラーの割合
metric-rr-unstarted-requests = 前の要求のどれにも応答がなく、予定時刻が来たのに送られなかった要求。レート指定がなければ、応答が一つもなかった時間に試せなかった数を、応答の速さから数える
metric-rr-open-connections = 維持した接続の数。crr では 1 スレッドにつき同時に 1 本
metric-rr-lost-connections = 測定が終わる前に切れた接続
metric-rr-ports-exhausted = ローカルポートが残っておらず、確立できなかった接続
metric-rr-answered-requests = 応答側が受け取って応答した要求。ウォームアップを含む
metric-rr-foreign-messages = 応答側で、この測定の要求以外のものが届いた接続とデータグラム
metric-rr-client-wait-ratio = 要求スレッドが実行可能なのに CPU を得られなかった時間の割合
metric-rr-server-wait-ratio = 応答スレッドが実行可能なのに CPU を得られなかった時間の割合

## crr
metric-crr-connections = 確立し、要求を一つ送って応答を得た接続。ウォームアップは数えない
metric-crr-connections-per-second = それらの接続を負荷の時間 (group.load_seconds) で割った値。系列では間隔ごとの値
metric-crr-errors = 時間内に応答のなかった要求と、接続が切れたとき処理中だった要求
metric-crr-window-full-ratio = 応答のない要求が --window の許す数に達していて、待たされた要求の割合
metric-crr-late-ratio = 空きがあったのに、予定時刻から 1 ms を超えて遅れて送られた要求の割合
metric-crr-latency-sd-seconds = レイテンシーの標準偏差
metric-crr-client-cpu-ratio = 最も忙しい要求スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア
metric-crr-server-cpu-ratio = 最も忙しい応答スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア
metric-crr-asked-per-second = 指定したレート。閉ループなら無い
metric-crr-best-rate-per-second = --find の条件を満たした最大のレート。あらためて測定して確認したもの
metric-crr-latency-seconds = 要求の予定時刻から応答までの時間。サマリーには .min、.mean、.p50、.p90、.p99、.p999、.max が載る
metric-crr-latency-p50-seconds = 間隔ごとのレイテンシーの中央値
metric-crr-latency-p99-seconds = 間隔ごとのレイテンシーの 99 パーセンタイル
metric-crr-service-seconds = 要求を実際に送った時点から応答までの時間。閉ループではレイテンシーに等しい
metric-crr-start-delay-seconds = 要求の予定した開始から実際の開始まで。送る余地があったものだけ。生成側自身の遅れで、応答時間には含まれ、実際の開始からの時間には含まれない。応答を待って次を送るときはない
metric-crr-round-trip-seconds = 要求ごとのレイテンシー。時刻は応答の時点 (--keep を参照)
metric-crr-connect-seconds = 接続にかかる時間。TLS ハンドシェイクを除く
metric-crr-handshake-seconds = TLS ハンドシェイクの時間
metric-crr-request-bytes = 各要求の大きさ。トランスポートのヘッダーを除く
metric-crr-response-bytes = 各応答の大きさ。同じくヘッダーを除く
metric-crr-one-way-bytes-per-second = 要求と応答のバイトを、レイテンシーの平均で割った値
metric-crr-error-ratio = 送る予定だった全要求に対する、エラーと開始されなかった要求の割合。系列では、その間隔に終わった要求のうちエラーの割合
metric-crr-unstarted-requests = 前の要求のどれにも応答がなく、予定時刻が来たのに送られなかった要求。レート指定がなければ、応答が一つもなかった時間に試せなかった数を、応答の速さから数える
metric-crr-open-connections = 維持した接続の数。crr では 1 スレッドにつき同時に 1 本
metric-crr-lost-connections = 測定が終わる前に切れた接続
metric-crr-ports-exhausted = ローカルポートが残っておらず、確立できなかった接続
metric-crr-answered-requests = 応答側が受け取って応答した要求。ウォームアップを含む
metric-crr-foreign-messages = 応答側で、この測定の要求以外のものが届いた接続とデータグラム
metric-crr-client-wait-ratio = 要求スレッドが実行可能なのに CPU を得られなかった時間の割合
metric-crr-server-wait-ratio = 応答スレッドが実行可能なのに CPU を得られなかった時間の割合

## stream
metric-stream-goodput-bits-per-second = 受信側のプログラムに届いたペイロードを負荷の時間 (group.load_seconds) で割った値。系列では区間ごとの値
metric-stream-received-bytes = 受信側のプログラムに届いたペイロード。ウォームアップを含む
metric-stream-missing-bytes = sent_bytes から received_bytes を引いた差。0 でなければ、理由はフローのラベル error にある
metric-stream-retransmitted-segments = 計数の間に再送した、ペイロードを持つ TCP セグメント
metric-stream-smoothed-rtt-seconds = 終わりの時点で、送信側のカーネルが平滑化した往復時間
metric-stream-write-blocked-ratio = 接続が何も受け取らず、送信スレッドが書き込みの中でスリープしていた時間の割合
metric-stream-read-idle-ratio = 何も届かず、受信スレッドがスリープしていた時間の割合
metric-stream-receive-window-limited-ratio = 受信側のウィンドウが満杯だった時間の割合 (TCP)
metric-stream-send-buffer-limited-ratio = 送信バッファが経路に対して小さすぎた時間の割合 (TCP)
metric-stream-sender-cpu-ratio = 最も忙しい送信スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア。系列ではフローのスレッドの値
metric-stream-receiver-cpu-ratio = 最も忙しい受信スレッドの CPU 時間の、経過時間に対する比。1 = 1 コア。系列ではフローのスレッドの値
metric-stream-sent-bits-per-second = 送信側のシステムが受け取ったペイロードを負荷の時間 (group.load_seconds) で割った値。系列では区間ごとの値
metric-stream-sent-bytes = 送信側のシステムが受け取ったペイロード。ウォームアップを含む
metric-stream-elapsed-seconds = 負荷の開始から、受信側でのストリームの終わりまで
metric-stream-asked-bits-per-second = 指定したレート。無制限なら無い
metric-stream-best-rate-per-second = --find の条件を満たした最大のレートでの毎秒の書き込み数。あらためて測定して確認したもので、グッドプットはその確認実行の値
metric-stream-late-ratio = 前の書き込みが終わっていたのに、予定時刻から 1 ms を超えて遅れて始まった書き込みの割合。無制限なら無い
metric-stream-write-size-bytes = 1 回の書き込みで渡すバイト
metric-stream-mean-write-bytes = 1 回の書き込みで受け取られたバイトの平均
metric-stream-mean-read-bytes = 1 回の読み出しで得たバイトの平均
metric-stream-fairness-index = フローのグッドプットの Jain の公平性指数: 1 = すべて等しい、1/n = 一つがすべてを占める。フローが一つなら無い
metric-stream-zerocopy-copied-ratio = ゼロコピーの書き込みのうち、カーネルが結局コピーした割合
metric-stream-sender-wait-ratio = 送信スレッドが実行可能なのに CPU を得られなかった時間の割合
metric-stream-receiver-wait-ratio = 受信スレッドが実行可能なのに CPU を得られなかった時間の割合
metric-stream-sender-cpu-seconds-per-gigabyte = 10⁹ バイトあたりの送信スレッドの CPU 時間
metric-stream-receiver-cpu-seconds-per-gigabyte = 10⁹ バイトあたりの受信スレッドの CPU 時間
metric-stream-sent-segments = 計数の間に送信した、ペイロードを持つ TCP セグメント。再送を含む
metric-stream-retransmitted-ratio = retransmitted_segments を sent_segments で割った値
metric-stream-busy-ratio = 送るデータまたは送信中のデータがあった時間の割合 (TCP)
metric-stream-min-rtt-seconds = 終わりの時点で、送信側のカーネルが最近観測した最小の往復時間
metric-stream-congestion-window-segments = 終わりの時点での輻輳ウィンドウ
metric-stream-segment-bytes = 満杯のセグメントのペイロード
metric-stream-send-buffer-asked-bytes = 要求した送信バッファ。システムが調整するなら無い
metric-stream-send-buffer-granted-bytes = 終わりの時点での送信バッファ (Linux は使える大きさの 2 倍を返すため、半分にした値)
metric-stream-receive-buffer-asked-bytes = 要求した受信バッファ。システムが調整するなら無い
metric-stream-receive-buffer-granted-bytes = 終わりの時点での受信バッファ (上と同じく半分にした値)

## モニター
monitor-any--interval = 二つのサンプルの間の時間。`500ms` など。指定しなければ実行の間隔、またはモニターに必要な間隔
monitor-any--on = 観測する、実行に参加するホスト: その名前、全ホストなら `*`、最初のホストなら `first`
monitor-cpu = 状態ごとの各コアの時間、クロック周波数、コンテキストスイッチ、割り込み、ロードアベレージ
monitor-disk = 各ディスクの読み出しと書き込みのバイト、処理中の要求の平均数
monitor-listen = 待ち受け中の各 TCP ソケットの accept キュー: 待っている接続の数と上限
monitor-listen--port = この TCP ポートのソケット (待ちがないときも記録する)。指定がなければ、待ちがあったすべてのソケット

monitor-memory = スワップなしで使えるメモリ、使用中のスワップ
monitor-network = 各インターフェースのトラフィックと破棄、UDP、TCP、バックログのカウンター
monitor-nstat = IP、ICMP、UDP、TCP の、増えたすべてのカウンター。名前は nstat と同じ
monitor-openmetrics = Prometheus または OpenMetrics のエンドポイントの値。scraped.… という名前の系列になる
monitor-openmetrics--mapping = どのメトリクスをどの系列にするかを定めるファイル (TOML)。指定しなければすべての counter と gauge。
monitor-openmetrics--most = 系列の最大数。1 から 20000。超えた分は数えるだけで取り込まない。
monitor-openmetrics--timeout = 応答を待つ最長時間。100ms から 60s。
monitor-openmetrics--url = エンドポイントのアドレス: `http://HOST:PORT/metrics`。
monitor-pressure = CPU、メモリ、I/O が足りずにタスクが止まった時間の割合
monitor-process = 個々のプロセスの CPU、メモリ、スレッド、開いているファイル、コンテキストスイッチ、ストレージ
monitor-process--most = 同時に観測するプロセスの最大数。1 から 64。それより多ければ番号の小さいものから選ぶ。
monitor-process--name = この名前のすべてのプロセス: カーネルでの名前、またはプログラムのパスかファイル名。
monitor-process--pid = この番号のプロセス。
monitor-process--port = この TCP または UDP ポートで待ち受けるすべてのプロセス。
monitor-qdisc = 各デバイスの送信待ち行列 (qdisc): 待っている量、破棄、レートで留められたパケット、リンクの状態
monitor-self-threads = sokudo 自身の各スレッドの CPU 時間、CPU 待ち、コアと、常駐メモリ、CPU 時間の割り当て
monitor-sockets = 使用中の TCP 接続と終了待ちの TCP 接続、ローカルポートの範囲

monitor-target = アプリケーションサーバーのキュー: 接続、スレッド、プール
monitor-target--at = sokudo のターゲットの管理ポート: ADDR:PORT。
monitor-target--kind = サーバーの種類: sokudo、liberty、tomcat、jetty、hikari、spring、nginx、haproxy。
monitor-target--mapping = どのサンプルをどのメトリクスにするかを定めるファイル (TOML)。種類ごとの定義の代わりに使う。
monitor-target--timeout = 応答を待つ最長時間。100ms から 60s。
monitor-target--url = ほかのサーバーが状態を公開するアドレス: http://HOST:PORT[/PATH]。

## rrul
metric-rrul-idle-rtt-seconds = ほかに何も送っていないときのデータグラムの往復時間の中央値
metric-rrul-added-up-seconds = 上りの負荷の下でのデータグラムの往復時間の中央値から、無負荷時の値を引いたもの
metric-rrul-added-down-seconds = 下りの負荷の下でのデータグラムの往復時間の中央値から、無負荷時の値を引いたもの
metric-rrul-added-both-seconds = 両方向の負荷の下でのデータグラムの往復時間の中央値から、無負荷時の値を引いたもの
metric-rrul-added-seconds = 上りの負荷と下りの負荷がそれぞれ往復時間の中央値に加える時間の平均。評価はこの時間による

## versus
metric-versus-effect = 変更ありで運ばれた量を変更なしの量で割った比。中央値どうし
metric-versus-effect-low = 変更ありの最小を変更なしの最大で割った比
metric-versus-effect-high = 変更ありの最大を変更なしの最小で割った比

## replicate
metric-replicate-files = 元にある通常のファイルの数
metric-replicate-files-written = 内容を送って公開したファイルの数。試行（--dry-run）では対象となる数
metric-replicate-user-bytes-per-second = 書いたファイルの圧縮前の内容を所要時間で割った値。時系列では区間中に公開した分
metric-replicate-wire-bits-per-second = 接続上の全フレームのビット数を所要時間で割った値。時系列では区間中の値
metric-replicate-elapsed-seconds = 開始から受信側の集計まで。内容はすべて公開され、指定どおりの永続性がある
metric-replicate-compression-ratio = 送った内容のバイト数を接続上のバイト数で割った値
metric-replicate-cpu-seconds = 両端の全スレッドの CPU 時間
metric-replicate-failed = 複製できなかった名前の数
metric-replicate-rounds = 完了した巡回の数。全体または差分の複製では 1
metric-replicate-source-bytes = 元にあるファイルの内容
metric-replicate-received-bytes = 送った内容の圧縮前のバイト数。試行では送ることになる量
metric-replicate-kept-bytes = 書いたファイルの内容のうち宛先に既にあったもの: 等しいブロック、穴、前の実行の途中までの内容
metric-replicate-wire-bytes = 接続上の全フレームのバイト数
metric-replicate-files-equal = 両端で等しかったファイルの数
metric-replicate-metadata-set = 内容は等しく、モード、所有者、時刻、属性だけを設定したファイルの数
metric-replicate-directories-made = 作ったディレクトリの数
metric-replicate-links-made = 作ったシンボリックリンクとハードリンクの数
metric-replicate-removed = 元にないため削除した名前の数
metric-replicate-extra = 元にないが残した名前の数
metric-replicate-files-per-second = 書いたファイルの数を所要時間で割った値。時系列では区間中に公開した分
metric-replicate-dense-bytes = 圧縮済みとみて、そのまま送った内容
metric-replicate-predicted-seconds = 開始前に予測した所要時間。予測しなければ載らない
metric-replicate-sender-cpu-ratio = 最も忙しい送信スレッドの CPU 時間と所要時間の比。1 で 1 コア
metric-replicate-receiver-cpu-ratio = 最も忙しい受信スレッドの CPU 時間と所要時間の比。1 で 1 コア
metric-replicate-sender-wire-ratio = 送信スレッドの時間のうち接続に費やした割合。経路または受信側のほうが遅い
metric-replicate-sender-file-ratio = 送信スレッドの時間のうち元のファイルの読み出しに費やした割合
metric-replicate-sender-pack-ratio = 送信スレッドの時間のうち圧縮に費やした割合
metric-replicate-sender-idle-ratio = 送信スレッドの時間のうち求められるものがなかった割合
metric-replicate-receiver-wire-ratio = 受信スレッドの時間のうちデータを待った割合
metric-replicate-receiver-file-ratio = 受信スレッドの時間のうち書き込み、改名、同期に費やした割合
metric-replicate-receiver-pack-ratio = 受信スレッドの時間のうち伸張と検証に費やした割合
metric-replicate-receiver-sync-ratio = 受信スレッドの時間のうち内容の永続化に費やした割合
metric-replicate-lag-seconds = ミラー: 元で見えたそのラウンドの最初の変更から、受信側がラウンドを数え終えるまで。要約では .min、.mean、.p50、.p90、.p99、.p999、.max を付けます
metric-replicate-asked-bits-per-second = すべてのフレームのビットの上限。なければ欠けます
metric-replicate-last-lag-seconds = ミラー: 最後のラウンドの遅れ
metric-replicate-moved-bytes-per-second = この間隔に接続へ渡した内容。圧縮前
metric-replicate-queued-bytes = 異なると分かり、まだ送られていない内容
metric-replicate-queued-files = 異なると分かり、まだ公開されていないファイルの数
metric-replicate-listed = 元の全体を調べ終え、待ちがすべて分かっていれば 1、そうでなければ 0
metric-replicate-rescans = ミラー: 変更が知らされなかったために元の全体を見直した回数。最初の 1 回は含みません
metric-replicate-round-trip-seconds = 内容の接続の最短の往復時間。送信側の TCP による。システムが示さない場合はない
metric-replicate-sender-cores = 試行: 送信側ホストで空いていたコア。短い間すべてを使って調べる
metric-replicate-receiver-cores = 試行: 受信側ホストで空いていたコア
metric-replicate-sender-cpu-seconds = 送信側の全スレッドの CPU 時間
metric-replicate-receiver-cpu-seconds = 受信側の全スレッドの CPU 時間
