# レポートの文言: report-<節>-<意味>

## 節
report-why = 理由
report-search = 維持できる最高レートの探索
report-phases = 測定の内容
report-over-time = 時間変化
report-flows = フロー
report-distributions = 分布
report-environment = 測定条件
report-rerun = 再実行

## 見出し・操作・末尾
report-header-hosts = ホスト { $n } 台
report-tool-theme = 明暗の切り替え
report-tool-print = 印刷
report-tool-copy = コピー
report-tool-copy-csv = CSV でコピー
report-tool-log = 対数
report-footer = 実行 { $run }、sokudo { $version } で作成しました。このページの内容はすべて記録から計算したもので、外部からは何も読み込みません。

## スクリプトの文言
report-script-copied = コピーしました
report-script-no-data = データなし
report-script-clock = 時計の一致 ±
report-script-start = 開始から
report-script-reset = グラフ上をドラッグするとすべてのグラフが拡大され、ダブルクリックで元に戻ります。キーボードでは矢印でカーソル移動、+ と − で拡大・縮小、Home で元に戻ります。

## 重み
report-severity-info = 補足
report-severity-caution = 注意
report-severity-bad = 警告
report-count-samples = n = { $n }

## 結論
report-verdict-none = この記録には、結論の根拠となる結果がありません。
report-verdict-problem = { $time } 時点: { $says }
report-verdict-problem-missing = { $time } 時点: { $says } このため欠けているもの: { $missing }
report-verdict-check-failed = 検査「{ $name }」は不合格です: { $says }
report-status-running = 実行がまだ終わっていないか、終了を記録する前にプログラムが停止しました。
report-status-ok = 実行は完了しています。
report-status-partial = 一部だけの結果です。ここにある値は実測ですが、欠けているものがあります。
report-status-failed = 実行は失敗しました。使える結果はありません。

## 数値
report-number-best = 維持できる最高レート
report-number-best-loss = 確認実行での損失 { $loss }
report-number-delivered = 到達
report-number-flows = { $n } フロー合計
report-number-lost = 損失
report-number-lost-of = 送信 { $sent } 件中 { $missing } 件
report-lost-sender = 送信側で拒否 { $n } 件
report-lost-path = 経路上 { $n } 件
report-lost-host = 受信ホスト内 { $n } 件
report-lost-socket = 受信ソケット { $n } 件
report-number-order = 順序の乱れ
report-number-duplicates = 重複 { $n } 件
report-number-jitter = ジッタ { $jitter }
report-number-cost = 1 件あたりの CPU 時間
report-number-sender = 送信側 { $value }
report-number-receiver = 受信側 { $value }
report-number-generator = 負荷生成
report-number-generator-cpu = 送信スレッドは 1 コアの { $cpu }
report-number-clock = 時計の誤差 ± { $error }
report-number-one-clock = 時計は 1 つ
report-number-sent = 送信
report-number-size = データグラム長
report-number-size-asked = 指定どおり
report-number-size-mtu = 経路 MTU { $mtu } B に収まる長さ
report-number-size-ethernet = イーサネットの MTU 1500 B に収まる長さ (この経路の MTU は参考になりません)
report-number-io = 送信方式 { $io }
report-number-buffer = 受信バッファ
report-number-buffer-asked = 要求 { $asked }
report-generator-valid = 妥当
report-generator-limit = ここが限界
report-generator-disturbed = 妨げあり
report-generator-unknown = 不明
report-datagrams-per-second = { $rate } データグラム

## 理由
report-why-none = 測定を制限した要因や妨げた要因は、どの規則でも見つかりませんでした。
report-why-next = 次の手:
report-why-more = ほかの区間での同様の所見 { $n } 件
report-why-peak = 最大 { $peak }

## 探索
report-search-title-best = { $rate } までは損失が許容範囲に収まります
report-search-title-none = 損失が許容範囲に収まるレートはありませんでした
report-search-note = 点は 1 回の試行です。上は送信量に対する到達量、下は損失です。破線の対角線上ではすべてが到達しています。塗りつぶした点は確認実行です。
report-search-trials = 試行の一覧
report-search-offered = 送信
report-search-delivered = 到達
report-search-lost = 損失
report-search-ideal = すべて到達
report-search-bound = 許容 { $bound }
report-search-best = { $rate }
report-search-confirm = 確認
report-search-probe = 試行
report-search-unlimited = 可能な限り高速
report-search-outline = { $trial }: 送信 { $offered }、到達 { $delivered }、損失 { $loss }

## 区間
report-phases-selftest = 自己診断: ホストの 1 スレッドはループバックで最大 { $best } を送信できます
report-phase-named = { $name }: { $help }
report-phase-plain = { $name }
report-phase-ended = { $phase }({ $how })
report-phase-running = 未終了
report-phase-partial = 一部のみ
report-phase-failed = 失敗
report-phase-p2p = 1 対 1、片方向
report-phase-both-ways = 1 対 1、双方向同時
report-phase-mesh = 全ホスト相互
report-phase-best = 最高レートでの再実行
report-phase-selftest = 負荷生成の実力

## 時間変化
report-over-time-how = すべてのグラフが 1 つの時間軸を共有しています。カーソルは同じ瞬間の値を全グラフで示します。
report-over-time-throughput = いつ、どれだけ届いたか
report-over-time-throughput-note = 実線: ホストに到達した量。破線: ホストが送信した量。
report-over-time-to = → { $host }
report-over-time-from = { $host } →
report-over-time-loss = いつ失われたか
report-over-time-loss-note = 受信ホストごとの損失の割合です。色が濃いほど多く、尺度は対数です。
report-over-time-drops = ホストのどこで捨てられたか
report-over-time-drops-note = カーネル自身の破棄カウンタの毎秒の増加です。0 のままのカウンタは省いています。
report-drop-udp-receive-buffer-errors = { $host } ソケット満杯
report-drop-udp-send-buffer-errors = { $host } 送信バッファ
report-drop-softnet-drops = { $host } バックログ
report-drop-nic-receive-drops = { $host } NIC 受信
report-drop-nic-send-drops = { $host } NIC 送信
report-drop-nic-errors = { $host } NIC エラー
report-drop-udp-checksum-errors = { $host } チェックサム
report-drop-ip-reassembly-failures = { $host } 断片の再構成
report-over-time-cpu = { $host } の CPU は何をしていたか
report-cpu-user = プログラム
report-cpu-nice = 低優先度
report-cpu-system = カーネル
report-cpu-irq = 割り込み
report-cpu-softirq = ソフト割り込み
report-cpu-steal = 横取り
report-cpu-iowait = I/O 待ち
report-over-time-cores = { $host } で特定のコアだけが忙しくなかったか
report-over-time-cores-cut = { $n } コアのうち忙しい順に { $shown } コアです。
report-over-time-threads-cpu = sokudo 自身のスレッドはどれだけ忙しかったか
report-over-time-threads-wait = sokudo のスレッドは CPU を待たされたか
report-over-time-nic = インターフェースを何が流れたか
report-over-time-nic-note = 実線: 受信。破線: 送信。
report-over-time-in = { $device } 受信
report-over-time-out = { $device } 送信
report-over-time-pressure = 資源を待たされたか
report-over-time-metric = { $metric }
report-over-time-metric-cut = { $metric }: { $n } 系列のうち大きい順に { $shown } 系列
report-over-time-more = 変化のあったほかの系列 { $n } 件
report-chart-outline = { $low } 〜 { $high }、平均 { $mean }、n = { $n }
report-chart-strip = 色が濃いほど大きな値です。

## フロー
report-flows-of = { $phase } · フロー数 { $n }
report-flows-table = { $phase } のフロー
report-flows-incomplete = { $flow }(片側の数値が届いていません)
report-flows-from-to = 送信元 ↓ 宛先 →
report-flows-matrix-rate = どこからどこへ、どれだけ速く届いたか
report-flows-matrix-loss = どこからどこへの間で、どれだけ失われたか

## 分布
report-distributions-all = 全フロー
report-distributions-table = { $phase } のパーセンタイル
report-distributions-heat-note = { $help }。升目の濃さは件数、線は各時点のパーセンタイルです。

## 測定条件
report-environment-hosts = ホストと時計
report-environment-grants = カーネルへの要求と許可された値
report-environment-receive-buffer = 受信バッファ
report-environment-send-buffer = 送信バッファ
report-environment-facts = { $section }: { $n } 項目
report-environment-not-available = 取得できません

## 再実行
report-rerun-how = 同じコマンドを同じシードで実行すると、同じ負荷がかかります。
report-rerun-identity = この実行について
report-rerun-run = 実行
report-rerun-started = 開始
report-rerun-length = 長さ
report-rerun-seed = シード
report-rerun-plan = 計画の SHA-256
report-rerun-version = sokudo
report-rerun-checks = 成り立つべきこと
report-check-held = 合格
report-check-failed = 不合格

## 列
report-column-address = アドレス
report-column-arrived = 到達
report-column-asked = 要求
report-column-check = 検査
report-column-clock-error = 時計の誤差
report-column-clock-offset = 時計のずれ
report-column-cpu = CPU
report-column-cpu-receive = 受信の CPU
report-column-cpu-send = 送信の CPU
report-column-datagrams = データグラム
report-column-delivered = 到達
report-column-fact = 項目
report-column-flow = フロー
report-column-flows = フロー数
report-column-granted = 許可
report-column-host = ホスト
report-column-lost = 損失
report-column-mode = 方式
report-column-order = 順序の乱れ
report-column-os = OS
report-column-phase = 区間
report-column-purpose = 目的
report-column-result = 結果
report-column-says = 内容
report-column-sent = 送信
report-column-setting = 設定
report-column-source = 取得元
report-column-value = 値
report-column-version = sokudo
report-column-what = 項目

## 指標
report-metric-datagram-ack-rtt-seconds = 往復時間
report-metric-datagram-delivered-bits-per-second = 到達
report-metric-datagram-delivered-bytes-per-second = 到達
report-metric-datagram-delivered-packets-per-second = 到達データグラム
report-metric-datagram-duplicate-packets = 重複
report-metric-datagram-interarrival-seconds = 到着間隔
report-metric-datagram-jitter-seconds = ジッタ
report-metric-datagram-lateness-seconds = 送信の遅れ
report-metric-datagram-loss-ratio = 損失
report-metric-datagram-loss-run-packets = 連続損失の長さ
report-metric-datagram-lost-at-receiver-host-packets = ホスト内 損失
report-metric-datagram-lost-at-receiver-socket-packets = ソケット 損失
report-metric-datagram-lost-at-sender-packets = 送信側 拒否
report-metric-datagram-lost-on-path-packets = 経路上 損失
report-metric-datagram-missing-packets = 欠落
report-metric-datagram-out-of-order-packets = 順序の乱れ
report-metric-datagram-received-packets = 受信
report-metric-datagram-receiver-cpu-ratio = 受信 スレッド
report-metric-datagram-receiver-cpu-seconds-per-packet = 受信 1 件の CPU
report-metric-datagram-reordering-extent-packets = 順序の乱れの幅
report-metric-datagram-sender-cpu-ratio = 送信 スレッド
report-metric-datagram-sender-cpu-seconds-per-packet = 送信 1 件の CPU
report-metric-datagram-sent-bytes-per-second = 送信
report-metric-datagram-sent-packets = 送信
report-metric-datagram-sent-packets-per-second = 送信データグラム

## 分布の中身
report-help-datagram-ack-rtt-seconds = 抽出したデータグラムの往復時間です(相手側の保持時間を除く)
report-help-datagram-interarrival-seconds = データグラムを返した受信呼び出しの間隔です
report-help-datagram-lateness-seconds = 予定した送信時刻に対する実際の送信の遅れです
report-help-datagram-loss-run-packets = 連続して欠けた番号の長さです
report-help-datagram-reordering-extent-packets = 順序の乱れた到着が何番遅れたかです(RFC 4737)

## 端末
report-terminal-next = 次の手:
report-terminal-lost = 損失 { $loss }

## 要求と応答
report-number-latency = 応答時間の中央値
report-number-latency-crr = 接続から応答までの中央値
report-number-p99 = 99 % { $value }
report-number-p999 = 99.9 % { $value }
report-number-max = 最大 { $value }
report-number-service = 実際の送信からは 99 % { $value }
report-number-transactions = 毎秒の応答数
report-number-connections = 毎秒の接続数
report-number-asked = 指定 { $asked }
report-number-closed = 応答を待って次を送信
report-number-open-connections = 接続 { $n } 本
report-number-connect = 接続時間の中央値
report-number-handshake = TLS ハンドシェイク { $value }
report-number-errors = 応答なし
report-number-error-ratio = 全体の { $ratio }
report-number-lost-connections = 切れた接続 { $n }
report-over-time-answers = いつ、どれだけ処理できたか
report-over-time-answers-note = 応答は要求側、メッセージは受信側のホストごとに、全フローの合計。
report-over-time-latency = いつ、応答にどれだけかかったか
report-over-time-latency-note = 区間ごとの値。実線は 99 %、破線は中央値。レート指定時は予定時刻から数える。
report-over-time-p50 = { $flow } 50 %
report-over-time-p99 = { $flow } 99 %
report-metric-rr-latency-seconds = 応答時間
report-metric-rr-service-seconds = 実際の送信からの応答時間
report-metric-crr-latency-seconds = 接続から応答までの時間
report-metric-crr-service-seconds = 実際の開始から応答までの時間
report-metric-crr-connect-seconds = 接続時間
report-metric-crr-handshake-seconds = TLS ハンドシェイクの時間
report-metric-rr-transactions = 応答数
report-metric-rr-transactions-per-second = 毎秒の応答数
report-metric-rr-errors = 応答なし
report-metric-rr-late-ratio = 送信の遅れ
report-metric-rr-window-full-ratio = 待たされた割合
report-metric-rr-latency-sd-seconds = 標準偏差
report-metric-rr-client-cpu-ratio = 要求側 CPU
report-metric-rr-server-cpu-ratio = 応答側 CPU
report-metric-crr-connections = 接続数
report-metric-crr-connections-per-second = 毎秒の接続数
report-metric-crr-errors = 応答なし
report-metric-crr-late-ratio = 開始の遅れ
report-metric-crr-window-full-ratio = 待たされた割合
report-metric-crr-latency-sd-seconds = 標準偏差
report-metric-crr-client-cpu-ratio = 要求側 CPU
report-metric-crr-server-cpu-ratio = 応答側 CPU

## プローブ
report-number-rtt = 往復時間の中央値
report-number-owd-up = 上りの片道遅延の中央値
report-number-owd-down = 下りの片道遅延の中央値
report-number-way-up = 上り { $value }
report-number-way-down = 下り { $value }
report-number-give-or-take = 時計 ± { $value }
report-number-jitter-up = 上りジッタ
report-number-probes-lost = 失われたプローブ
report-number-probes-late = 遅延到着 { $n }
report-number-probes-unsent = 未送信 { $n }
report-metric-probe-answered-packets = 応答
report-metric-probe-clock-error-seconds = クロック誤差
report-metric-probe-ipdv-down-seconds = 下りの変動（連続するプローブ間）
report-metric-probe-ipdv-seconds = 往復の変動（連続するプローブ間）
report-metric-probe-ipdv-up-seconds = 上りの変動（連続するプローブ間）
report-metric-probe-jitter-down-seconds = 下りジッタ
report-metric-probe-jitter-up-seconds = 上りジッタ
report-metric-probe-late-packets = 遅延到着
report-metric-probe-loss-down-ratio = 下り損失
report-metric-probe-loss-run-down-packets = 連続して失われた応答
report-metric-probe-loss-run-up-packets = 連続して失われたプローブ
report-metric-probe-loss-up-ratio = 上り損失
report-metric-probe-owd-down-seconds = 下りの片道遅延
report-metric-probe-owd-seconds = 片道遅延（両方向）
report-metric-probe-owd-up-seconds = 上りの片道遅延
report-metric-probe-rtt-seconds = 往復時間
report-metric-probe-send-call-seconds = 送信呼び出しの所要時間
report-metric-probe-sender-cpu-ratio = 送信 CPU
report-metric-probe-sent-packets = 送信
report-metric-probe-server-cpu-ratio = 応答側 CPU
report-metric-probe-timer-error-seconds = 予定からの遅れ
report-metric-probe-turnaround-seconds = 相手側での折り返し時間
report-metric-probe-unsent-packets = 未送信
## 一括転送
report-number-goodput = 届いたペイロード
report-number-received = 合計 { $value }
report-number-fairness = 公平性指数 { $value }
report-number-not-arrived = 届かなかった量
report-number-retransmitted = 再送セグメント
report-number-of-segments = 全体の { $value }
report-number-round-trip = 往復時間 { $value }
report-number-write-blocked = 書き込み待ち
report-number-read-idle = 読み出し待ち { $value }
report-number-cost-gigabyte = 1 GB あたりの CPU 時間
report-metric-stream-goodput-bits-per-second = 届いたペイロード
report-metric-stream-sent-bits-per-second = 送信したペイロード
report-metric-stream-received-bytes = 受信量
report-metric-stream-missing-bytes = 届かなかった量
report-metric-stream-retransmitted-segments = 再送セグメント
report-metric-stream-smoothed-rtt-seconds = 往復時間
report-metric-stream-write-blocked-ratio = 書き込み待ち
report-metric-stream-read-idle-ratio = 読み出し待ち
report-metric-stream-receive-window-limited-ratio = 受信ウィンドウによる制限
report-metric-stream-send-buffer-limited-ratio = 送信バッファーによる制限
report-metric-stream-sender-cpu-ratio = 送信側 CPU
report-metric-stream-receiver-cpu-ratio = 受信側 CPU
## Load curve
report-load-curve = 負荷曲線
report-load-title = 屈曲点までの負荷は処理できています
report-load-title-none = この範囲に屈曲点はありません
report-load-note = 上は処理量、下は所要時間 (対数目盛) です。点の一つ一つが測定の一段階です。
report-load-steps = 各段階
report-load-offered = 要求
report-load-option = --{ $option }
report-load-carried = 処理量
report-load-p50 = 中央値
report-load-p99 = p99
report-load-lost = 損失・失敗
report-load-ideal = 全量
report-load-knee = 屈曲点 { $value }
report-terminal-knee = 屈曲点

## メッセージ
report-number-messages = 1 秒あたりの到着メッセージ
report-number-bits = ヘッダー込みで { $value }
report-number-response = 応答までの時間の中央値
report-number-under-way = 未達の最大量
report-number-waited-for-room = 送信側の空き待ち { $value }
report-number-came-to-nothing = 失敗したメッセージ

## Finished requests (JTL)
jtl-footer = { $name } から sokudo { $version } で作成しました。このページの内容はすべてそのファイルの行だけに基づき、外部からは何も読み込みません。
jtl-verdict-nothing = ファイルに完了したリクエストがありません。
jtl-verdict-fine = スループットは { $rate }、{ $percent } % が { $time } 以内に応答しました。{ $n } 件のうち失敗はありません。
jtl-verdict-failed = スループットは { $rate }、{ $percent } % が { $time } 以内に応答しました。{ $n } 件のうち { $errors } が失敗しました。
jtl-verdict-kept = 合格です: { $goals }。
jtl-verdict-missed = 不合格です: { $goals }。
jtl-verdict-main-failure = 失敗の { $share }({ $n } 件)は「{ $failure }」です。最も多いのは「{ $label }」で { $of_label } 件です。
jtl-verdict-flattered = 平均 { $mean } は実際より良く見えています。成功した応答は { $good }、失敗は { $failed } でした。
jtl-verdict-compared = { $name } と比べて、p{ $percent } は { $time }、スループットは { $rate }、失敗は { $errors }(前回 { $before })です。
jtl-remark-broken = { $n } 行は読めなかったため集計に含めていません。最初は { $line } 行目です: { $why }。
jtl-remark-cut = ファイルが行の途中で終わっています。書き込み中のプログラムが止められたためです。それより前の行は集計しています。
jtl-remark-far = 時刻が最初の行から 1 年以上離れた { $n } 行は集計に含めていません。
jtl-remark-labels = ラベルが { $most } 種類を超えたため、残りはまとめて集計しました。ラベルには ID を含めないでください。
jtl-remark-inner = 別のリクエストに含まれる { $n } 件(リダイレクト、埋め込みリソース)は親の一部であり、重ねて数えていません。
jtl-number-rate = 毎秒のリクエスト数
jtl-number-percentile = 応答時間の p{ $percent }
jtl-number-failed = 失敗
jtl-number-failed-of = { $all } 件中 { $n } 件
jtl-number-apdex = APDEX
jtl-number-apdex-limits = 満足は { $satisfied } まで、許容は { $tolerated } まで
jtl-number-users = 最大ユーザー数
jtl-number-bytes = 受信 { $received }、送信 { $sent }
jtl-number-received = 受信
jtl-number-sent = 送信 { $sent }
jtl-goals = 目標
jtl-goals-title = 守るべき条件({ $n } 件)
jtl-goal = 目標
jtl-goal-reached = 実際の値
jtl-goal-result = 結果
jtl-goal-kept = 達成
jtl-goal-missed = 未達
jtl-over-time-how = すべてのグラフは時間軸とカーソルを共有します。リクエストは終わった時刻で数えます。
jtl-more-charts = ラベル別、待ち時間、バイト数
jtl-chart-times = 応答にどれだけかかったか
jtl-chart-times-note = 色が濃いほど、その時間を要したリクエストが多いことを示します。線は各区間のパーセンタイルで、パーセンタイルの平均ではありません。
jtl-chart-compared = 応答時間の p95、今回と前回
jtl-chart-rates = 毎秒何件のリクエストがあったか
jtl-chart-failed = どれだけ失敗したか
jtl-chart-users = ユーザーは何人いたか
jtl-chart-codes = どの応答コードが返ったか
jtl-chart-label-times = ラベル別の平均応答時間
jtl-chart-label-rates = ラベル別の毎秒リクエスト数
jtl-chart-waiting = 接続までと、応答の最初の 1 バイトまでの平均時間
jtl-chart-bytes = 受信と送信のバイト数
jtl-line-started = 開始
jtl-line-ended = 完了
jtl-line-transactions = トランザクション
jtl-line-failed = 失敗
jtl-line-users = ユーザー
jtl-line-first-byte = 最初のバイト
jtl-line-connect = 接続
jtl-line-received = 受信
jtl-line-sent = 送信
jtl-statistics = 統計
jtl-statistics-how = パーセンタイルは全リクエストから求めた値で、有効数字 3 桁です。トランザクションはリクエストをまとめたもので、合計には含みません。
jtl-statistics-title = ラベル別
jtl-statistics-more = 残り { $n } 種類のラベルは statistics.json にあります。
jtl-label = ラベル
jtl-total = 全リクエスト
jtl-transaction = { $label }(トランザクション)
jtl-requests = 件数
jtl-failed = 失敗数
jtl-failed-share = 失敗率
jtl-mean = 平均
jtl-min = 最短
jtl-max = 最長
jtl-rate = スループット
jtl-received = 受信
jtl-sent = 送信
jtl-apdex = APDEX
jtl-failures = 失敗
jtl-failures-how = 失敗は応答コードとメッセージで、コードが正常な場合は失敗したアサーションで区別します。
jtl-failures-kinds = 失敗の種類
jtl-failures-by-label = ラベルごとに最も多い 5 種類の失敗
jtl-failure = 失敗の内容
jtl-of-failures = 失敗に占める割合
jtl-of-all = 全体に占める割合
jtl-rank = 順位
jtl-shape = 分布と負荷
jtl-shape-how = 平均では分からないこと、つまり応答時間の散らばりと、負荷による変化を示します。
jtl-plane-distribution = どれだけの時間で何件が終わったか
jtl-plane-distribution-note = 99.5 パーセンタイルまでを示します。残りは上の表にあります。
jtl-plane-percentiles = どれだけの割合がどの時間以内に応答したか
jtl-plane-percentiles-note = 右端で線が跳ね上がるのは裾です。少数のリクエストだけがほかよりずっと長くかかっています。
jtl-plane-rate = 件数が増えると応答は遅くなるか
jtl-plane-rate-note = 時間の区間ごとに 1 組の点です。毎秒完了したリクエスト数と、その間の p50 と p95 を示します。
jtl-plane-users = ユーザーが増えると応答は遅くなるか
jtl-plane-users-note = その人数のユーザーがいる間に終わったリクエストの平均応答時間です。
jtl-axis-time = 応答時間
jtl-axis-share = リクエストの割合
jtl-axis-percent = 速い順に並べたリクエストの割合
jtl-axis-rate = 毎秒のリクエスト数
jtl-axis-users = ユーザー数
jtl-axis-mean = 平均応答時間
jtl-comparison = 比較
jtl-comparison-how = 前回のテストの値と並べて示します。変化が偶然でないかは、テストを繰り返して初めて分かります。
jtl-comparison-title = 前回: { $name }
jtl-earlier = 前回
jtl-change = 変化
jtl-conditions = { $name } の行から作成しました。最初の開始は { $started }、時間の区間は { $width } です。パーセンタイルは、全リクエストのうちその割合が超えない最小の値です。スループットは、最初の開始から最後の終了までの時間でリクエスト数を割った値なので、終わり際に実行中だったリクエストの分だけ低くなります。
jtl-empty-transactions = リクエストを含まないトランザクション { $n } 件は集計に含めていません。
