# ウェブページのメッセージ: web-<場所>-<意味>。波括弧の値はページのスクリプトが埋めます。

## Header
web-state-idle = 待機中
web-state-works = 実行中
web-state-waits = 記録中
web-state-stopping = 停止中
web-state-away = 接続が切れました。再接続しています
web-tool-theme = 明暗の切り替え

## What is going on
web-lead-first = 「ノード情報を集める」でどのホストがいるかを確かめるか、下の負荷テストを開始します。
web-lead-ready = { $n } 台のホストが待機しています。スクリプトを作り、必要なら直して、実行してください。
web-lead-alone = 待機しているホストは 1 台です。ペアには 2 台必要です。もう 1 台で `sokudo serve` か `sokudo agent` を起動してください。
web-lead-watch = 何も実行されていません。
web-lead-collect = ホストに問い合わせています …
web-lead-run = スクリプトを実行しています。
web-lead-console = コンソールの記録が開いています。次の行もこの記録に入ります。
web-lead-specs = 仕様を、それぞれの予定に従って実行しています。
web-lead-measure = 負荷をかけています。
web-lead-stopping = 停止しています。ここまでの測定は残ります。
web-lead-over = 実行が終わりました。
web-lead-nothing = 実行が終わりました。何も測れなかったので、記録は残しません。
web-phase = フェーズ { $name }
web-phase-of = / { $time }
web-report-open = レポートを開く
web-dropped = このページに届く前に { $n } 件のメッセージを捨てました。記録には残っています。

## Buttons
web-do-collect = ノード情報を集める
web-do-emit = スクリプトを作る
web-do-run = 実行
web-do-stop = 停止
web-do-close = 記録を閉じる

## Hosts
web-hosts-title = ホスト
web-hosts-none = まだ誰にも問い合わせていません。「ノード情報を集める」を押すと、全ホストを呼び出し、時計をこのマシンと比べます。
web-hosts-cores = { $n } コア
web-hosts-clock = 時計 { $time } ± { $error }
web-hosts-one-clock = 同じ時計
web-hosts-ready = 準備完了
web-hosts-suspect = 応答が遅延
web-hosts-lost = 喪失
web-hosts-cpu = CPU 使用率
web-hosts-speak = { $host } に話しかける
web-board-title = 仕様
web-board-green = 最新
web-board-yellow = 未完了
web-board-red = 失敗

## Tracks
web-tracks-title = 時間の経過
web-tracks-how = ドラッグですべてのグラフを拡大し、ダブルクリックで戻ります。グラフを選んだ状態では、矢印キーでカーソル移動、+ と − で拡大縮小、Home で戻ります。
web-track-throughput = 届いたデータ (ホスト別)
web-track-answers = 毎秒の応答数 (ホスト別)
web-track-users = ユーザー数
web-track-latency = レイテンシー: 最も遅いフローの中央値と 99 パーセンタイル
web-track-loss = 欠損・失敗の割合 (最も悪いフロー)
web-track-processes = 観測中のプロセスとデータベースのセッションの CPU 使用量 (ホスト別、1 = 1 コア)
web-track-queues = サーバー内の待ち数: 受け付け、スレッド、データベース接続
web-track-waits = データベースのセッション (実行中、または待っているもの)
web-track-cpu = CPU 使用率 (ホスト別)
web-track-earlier = { $name } (以前)
web-tracks-start = 開始から

## Script
web-script-title = スクリプト
web-script-language = 言語
web-script-lines = コンソール行
web-script-javascript = JavaScript
web-script-pairs = ペア数
web-script-all = すべて
web-script-size = 片道のバイト数
web-script-times = 回数
web-script-duplex = 双方向同時
web-script-label = スクリプト本文
web-script-hint = ここにコンソール行か JavaScript を書きます。「スクリプトを作る」を押すと、全ホストに一斉に負荷をかける行ができます。
web-script-place = { $n } 行目

## Console
web-console-title = コンソール
web-console-to = 宛先
web-console-typed = 入力どおり
web-console-all = 全ホスト
web-console-host = { $n } { $host }
web-console-line = 行
web-console-send = 送る
web-console-none = `hosts`、`syncTime`、`node 1 rr 2 --count 1000` のような行をその場で実行し、まとめて一つの記録に残します。`help` で語の一覧、上矢印で以前の行が出ます。
web-console-record = 記録を開いてから話したことは、すべて一つのレポートになります。記録を閉じるとレポートができます。

## Records
web-records-title = 記録
web-records-none = まだ実行がありません。最初の実行が終わると、ここに現れます。
web-records-report = レポート
web-records-again = もう一度実行
web-records-failed = 失敗 { $share }
web-records-hidden = 記録には秘密の値が残っていません。「(hidden)」の欄を埋めて開始してください。
web-records-under = 下に重ねる
web-records-under-off = 重ねるのをやめる
web-status-ok = 完了
web-status-missed = チェック不合格
web-status-partial = 一部のみ
web-status-failed = 失敗
web-status-running = 実行中
web-records-more = { $n } 件すべてを表示

## Errors
web-error-sent = 指示がプログラムに届きませんでした: { $error }

## Numbers while a run goes on
web-figure-throughput = 到着
web-figure-answers = 応答
web-figure-users = ユーザー
web-figure-p50 = レイテンシー (中央値)
web-figure-p99 = レイテンシー (p99)
web-figure-loss = 欠損・失敗
web-figure-cpu = 最も忙しい CPU

## Web server
web-report-kept = コマンドは終わりました。`sokudo show { $name }` で記録をもう一度見られます。
web-steer-title = 実行中の変更:
web-steer-users = ユーザー数・接続数
web-steer-rate = 毎秒のリクエスト数
web-steer-same = そのまま
web-steer-do = 変更する

## load test
web-load-title = 負荷テスト
web-load-what = 対象
web-load-http = 1 つの URL
web-load-jmx = JMeter のテスト計画
web-load-url = URL
web-load-users = ユーザー数
web-load-ramp = 増やす時間
web-load-duration = 時間
web-load-rate = 毎秒のリクエスト数
web-load-slo = 守る条件
web-load-properties = プロパティー (-J)
web-load-monitors = モニター
web-load-none = すぐに全員
web-load-as-plan = 計画のとおり
web-load-closed = 応答しだい
web-load-files = 計画とデータファイル
web-load-plan = 計画 (貼り付けもできます)
web-load-too-large = ファイルの合計が { $n } MiB を超えています。
web-load-do = 開始

## failures
web-mix-title = ラベルと種類ごとの負荷
web-mix-label = ラベルまたは種類
web-mix-share = これまでの割合
web-mix-rate = レート
web-mix-p50 = p50
web-mix-p99 = p99
web-mix-failed = 失敗
web-settings-title = 有効なデータベースの設定
web-settings-name = 設定
web-settings-value = 値
web-settings-commits = 応答済みのコミット
web-settings-kept = 障害後も残る
web-settings-at-risk = 障害で失われることがある
web-failures-title = ここまでの失敗
web-failures-label = ラベル
web-failures-code = コード
web-failures-message = メッセージ
web-failures-count = 件数
