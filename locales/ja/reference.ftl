# プログラムが書くリファレンスのメッセージ。ページ、見出し、JSON 文書のフィールド。

## Pages

reference-written = このページはプログラムが書きます。`./dev docs` で書き直せます。直接編集しないでください。
reference-commands = コマンド
reference-commands-about = すべてのコマンドと、その引数およびオプションです。内容は `--help` と同じです。どのコマンドにも `--help` があり、`sokudo --version` は版を表示します。終了コードは [sokudo](#sokudo) の節にあります。
reference-metrics = メトリクス
reference-metrics-about = 記録に現れるすべてのメトリクスを、出所ごとに示します。`sokudo metrics` も同じ一覧を表示します。
reference-metrics-kinds = *counter* は実行中に増えるだけの値、*gauge* は上下する値、*histogram* は分布です。分布の各数値の名前には、最後に { $stats } が付きます。
reference-metrics-totals = 「合計」の列は、フェーズの各フローの値からフェーズの合計を求める方法です。空欄の場合は、負荷自身が合計を計算するか、合計がありません。
reference-findings = 所見
reference-findings-about = sokudo が記録から導くすべての結論です。意味、見分けるための兆候、試すべきことを示します。結論どうしの優先順位は[何が限界だったか](../../concepts/ja/what-limited-it.md)で説明しています。
reference-monitors = モニター
reference-monitors-about = 実行中にホストを観測するすべてのモニターと、そのオプションおよびメトリクスです。モニターの使い方は[ホストの観測](../../concepts/ja/observing.md)で、各メトリクスの意味は[メトリクスの一覧](metrics.md)で説明しています。
reference-monitors-all = すべてのモニターのオプション
reference-monitors-standing = すべての実行を観測します。
reference-monitors-asked = 指定した場合だけ観測します。
reference-monitors-waits = 読み取り元を待つことがあるため、専用のスレッドを使います。
reference-json = JSON 文書
reference-json-about = コマンドがプログラム向けに出力するすべての JSON 文書を、フィールドごとに示します。既存のフィールドの意味は変わりませんが、フィールドが追加されることはあります。パスの `[]` は配列の各要素、`*` は任意のキーを表します。型 `any` はここでは説明しません。メトリクスの名前は[メトリクスの一覧](metrics.md)と同じです。

## Headings of lists and tables

reference-metric = メトリクス
reference-unit = 単位
reference-kind = 種類
reference-total = 合計
reference-meaning = 意味
reference-option = オプション
reference-default = 既定値
reference-field = フィールド
reference-type = 型
reference-signs = 兆候
reference-try = 試すこと
reference-options = オプション
reference-arguments = 引数
reference-emits = メトリクス
reference-printed = { $command } が出力します。

## What a conclusion is for

reference-purpose-describes = 起きたこと、または構成を述べます。
reference-purpose-limit = レートの限界の原因を示します。
reference-purpose-loss = データグラムが失われた場所を示します。損失はレートの限界になります。

## How flows become a total

reference-fold-sum = 和
reference-fold-max = 最大
reference-fold-min = 最小
reference-fold-mean = { $weight } による加重平均
reference-fold-one = 唯一のフローの値

## Sources of metrics

reference-source-selftest = チェックの前に測る、このマシン自身のソケットの能力です。
reference-source-group = グループのホストが、どれだけそろって開始したかです。
reference-source-host = ホスト全体の値です。モニターが読み取ります。
reference-source-self = sokudo 自身のプロセスとスレッドの値です。
reference-source-clock = コントローラーの時計に対する各ホストの時計の値です。
reference-source-knee = 膝の探索: 要求が待ち始めるところ。
reference-source-sweep = オプションの値を順に変えるスイープの値です。
reference-source-repeat = 同じ測定の繰り返し。要約のほかの値はすべて、速さが中央の回のもの。
reference-source-tcp = フローの接続の値です。カーネル (TCP_INFO) から読み取ります。ラベルは `flow` と `end` (`sender`、`receiver`) です。
reference-source-process = 個々のプロセスの値です。モニター `process` が読み取ります。
reference-source-openmetrics = メトリクスの取得の様子です。モニター `openmetrics` が記録します。
reference-source-datagram = 負荷 `datagram`: ホスト間のデータグラム。
reference-source-probe = 負荷 `probe`: 往復する小さなデータグラム。
reference-source-bus = 負荷 `bus`: ホスト間のメッセージ。
reference-source-dns = ワークロード `dns`: ネームサーバーへの問い合わせ。
reference-source-http = 負荷 `http` と `jmx`: Web サーバーへの要求。
reference-source-rr = 負荷 `rr`: 開いたままの接続での要求と応答。
reference-source-crr = 負荷 `crr`: 要求ごとの接続。
reference-source-stream = 負荷 `stream`: 接続を通る大量のバイト。

## Summary of a run

json-summary = 実行の結果です。スキーマは `sokudo.summary/1` です。測定するコマンドも `--json` を付けるとこれを出力します。文は言語の設定にかかわらず英語です。
json-summary-schema = 文書の名前と版: `sokudo.summary/1`
json-summary-run = 実行の名前
json-summary-status = 実行の結果: `ok`、`missed`（満たされない条件がある）、`partial`、`failed`。終わっていない実行は `failed`
json-summary-workload = 実行の呼び名: 負荷の名前、`check`、`console` など
json-summary-summary = メトリクスの名前ごとの合計。有限でない値は含めない
json-summary-ranges = 合計のいくつかについて、この実行の条件での真の値がある範囲。名前ごと
json-summary-ranges-each-low = 下端。メトリクスの単位
json-summary-ranges-each-high = 上端。メトリクスの単位
json-summary-ranges-each-confidence = 範囲が真の値を含む確率
json-summary-ranges-each-basis = 範囲の前提。`batches` は標本どうしの依存をバッチから推定したもの、`independent` は推定するには実行が短すぎたもので、真の範囲はこれより広いことがある
json-summary-placement = 要約のフェーズで忙しかったスレッドが動いたコア。観測していなければ空
json-summary-placement-host = スレッドのホスト
json-summary-placement-thread = スレッドの名前
json-summary-placement-cores = 観測されたコアの番号。多い順
json-summary-phases = 測定した各フェーズ。同時にかけた負荷は、それぞれ 1 つのフェーズになる
json-summary-phases-name = フェーズの名前
json-summary-phases-moment = 同時にかけた負荷に共通する名前。単独のフェーズではフェーズの名前と同じ
json-summary-phases-workload = 負荷の種類
json-summary-phases-status = 終わり方
json-summary-phases-summary = フェーズ全体の値（名前ごと）
json-summary-flows = `summary` が表すフェーズのフロー
json-summary-flows-id = フェーズ内のフローの番号
json-summary-flows-from = 送信側ホストの名前
json-summary-flows-to = 受信側ホストの名前
json-summary-flows-labels = フローの性質: トランスポート、I/O 方式、バインドなど
json-summary-flows-metrics = メトリクスの名前ごとの値。無いものは「不明」であり、ゼロではない
json-summary-flows-histograms = メトリクスの名前ごとの分布
json-summary-flows-histograms-each-n = 値の個数
json-summary-flows-histograms-each-min = 最小値（メトリクスの単位）
json-summary-flows-histograms-each-mean = 算術平均
json-summary-flows-histograms-each-p50 = 中央値
json-summary-flows-histograms-each-p90 = 90 パーセンタイル
json-summary-flows-histograms-each-p99 = 99 パーセンタイル
json-summary-flows-histograms-each-p999 = 99.9 パーセンタイル
json-summary-flows-histograms-each-max = 最大値
json-summary-flows-complete = 片方の端の数値が届かなかった場合は false
json-summary-checks = 満たすべき条件
json-summary-checks-name = チェックの短い名前: `complete`、`accounting`、`attribution`、`loss` など
json-summary-checks-passed = 満たされたか
json-summary-checks-says = 期待した内容と実際の値
json-summary-checks-asked = 指定どおりの条件。すべての実行が満たすべき条件では null
json-summary-checks-measured = 測定値。ないときは null
json-summary-checks-unit = その値の単位
json-summary-checks-on = 測定の対象（フェーズ、レート、ホストの組）。測定が 1 つだけなら空
json-summary-problems = 実行中に起きた問題
json-summary-problems-host = 対象のホスト。コントローラー自身の場合は空
json-summary-problems-phase = 対象のフェーズ。フェーズの外では空
json-summary-problems-says = 起きたこと
json-summary-problems-missing = そのために記録から欠けたもの
json-summary-findings = 結論（強い順）
json-summary-findings-rule = [所見](findings.md)の名前
json-summary-findings-severity = `info`、`caution`、`bad`
json-summary-findings-phase = 対象のフェーズ。実行全体の場合は空
json-summary-findings-says = 結論
json-summary-findings-evidence = 根拠
json-summary-findings-evidence-says = 観測の内容
json-summary-findings-evidence-source = 読み取り元
json-summary-findings-evidence-host = 観測したホスト
json-summary-findings-evidence-metric = それを示すメトリクス
json-summary-findings-evidence-value = 数値
json-summary-findings-evidence-unit = 数値の単位
json-summary-findings-next = 次に試すこと
json-summary-verdict = 判定（文ごと）
json-summary-limit = 結果を限ったものと、その根拠
json-summary-record = 記録のディレクトリー
json-summary-sweep = 曲線。スイープした場合のみ
json-summary-sweep-option = 変えたオプション
json-summary-sweep-unit = `offered` と `delivered` の単位
json-summary-sweep-knee = 膝にあたるステップの番号。範囲内に無ければ null
json-summary-sweep-steps = 負荷の小さい順のステップ
json-summary-sweep-steps-phase = フェーズの名前
json-summary-sweep-steps-value = 指定されたオプションの値
json-summary-sweep-steps-status = ステップの結果: `ok`、`partial`、`failed`
json-summary-sweep-steps-offered = 与えた負荷（単位は `unit`）
json-summary-sweep-steps-delivered = 運ばれた負荷（単位は `unit`）
json-summary-sweep-steps-p50_seconds = 遅延の中央値
json-summary-sweep-steps-p99_seconds = 遅延の 99 パーセンタイル
json-summary-sweep-steps-lost_ratio = 失われた、または失敗した割合
json-summary-search = 探索の答えでの試行。速さが見つかったときだけ
json-summary-search-trials = その速さでの試行の回数。確認の回を含む
json-summary-search-held_trials = そのうち限度を保った回数
json-summary-search-unit = `low`、`high`、`above` の単位
json-summary-search-low = これらの試行の処理量の中央値がある区間の下端。2 回未満なら null
json-summary-search-high = その区間の上端。2 回未満なら null
json-summary-search-confidence = 区間が真の中央値を含む確率
json-summary-search-above = 限度を超えた最も低い負荷。限界はこの 2 つの間にある。なければ null
json-summary-repeats = 繰り返し測定の中央値。--repeat のときだけ
json-summary-repeats-runs = 測定の回数
json-summary-repeats-failed_runs = 速さが得られなかった回数
json-summary-repeats-phase = 速さが中央の回のフェーズ。合計とフローはこの回のもの
json-summary-repeats-figures = 主な項目。名前ごと: 速さ、応答時間の中央値と 99 パーセンタイル、失われたか失敗した割合
json-summary-repeats-figures-each-median = 各回を通した中央値。メトリクスの単位
json-summary-repeats-figures-each-low = 中央値の区間の下端。2 回未満なら null
json-summary-repeats-figures-each-high = 中央値の区間の上端。2 回未満なら null
json-summary-repeats-figures-each-confidence = 区間が真の中央値を含む確率。6 回以上で 0.95 以上
json-summary-repeats-figures-each-min = 最小値
json-summary-repeats-figures-each-max = 最大値
json-summary-repeats-figures-each-runs = この項目がある回の数
json-summary-repeats-figures-each-values = 各回の値。順番どおり。ない回は null
json-summary-pairs = ホストの各組。グループの組を調べた場合のみ
json-summary-pairs-from = 送信または要求するホスト
json-summary-pairs-to = 受信または応答するホスト
json-summary-pairs-passed = すべてが通り、期待した条件が守られたか
json-summary-pairs-dead = 何も通らなかった負荷
json-summary-pairs-figures = メトリクスの名前ごとの値
json-summary-pairs-wrong = 問題の内容。無ければ null

## Result files

json-jtl = 結果ファイルの行が示す内容です。名前は実行のまとめと同じです。結果ファイルを読むコマンドが `--json` で出力します。
json-jtl-schema = 文書の名前と版: `sokudo.summary/1`
json-jtl-run = ファイルまたはテストの名前
json-jtl-status = `ok`、または守られない目標があれば `missed`
json-jtl-workload = 常に `http`
json-jtl-summary = メトリクスの名前ごとの合計。分布 `http.service_seconds` には `mean`、`p50`、`p95`、`p99`、`max` がある
json-jtl-checks = 指定された目標
json-jtl-checks-name = `goal`
json-jtl-checks-passed = 守られたか
json-jtl-checks-says = 求めた値と達した値
json-jtl-checks-asked = 指定どおりの条件。すべての実行が満たすべき条件では null
json-jtl-checks-measured = 測定値。ないときは null
json-jtl-checks-unit = その値の単位
json-jtl-checks-on = 測定の対象（フェーズ、レート、ホストの組）。測定が 1 つだけなら空
json-jtl-remarks = 読めない行など、行についての注意の名前
json-jtl-verdict = 判定（文ごと）
json-jtl-report = 書き出したページ。無ければ null

json-statistics = `statistics.json` の各オブジェクトです。ラベルごとに 1 つと、`Total` という名前のものがあります。フィールド名は JMeter のレポートと同じです。
json-statistics-transaction = ラベル、または `Total`
json-statistics-sampleCount = 要求の数
json-statistics-errorCount = 失敗した要求の数
json-statistics-errorPct = 失敗した要求の割合
json-statistics-meanResTime = 応答時間の平均
json-statistics-medianResTime = 応答時間の中央値
json-statistics-minResTime = 最短の応答時間
json-statistics-maxResTime = 最長の応答時間
json-statistics-pct1ResTime = 指定された 1 番目のパーセンタイル
json-statistics-pct2ResTime = 2 番目。指定が少ない場合は最後のもの
json-statistics-pct3ResTime = 3 番目。指定が少ない場合は最後のもの
json-statistics-throughput = 毎秒の要求数
json-statistics-receivedKBytesPerSec = 毎秒の受信バイト数（1024 バイト単位）
json-statistics-sentKBytesPerSec = 毎秒の送信バイト数（1024 バイト単位）

## Runs

json-runs = 記録された実行を、新しい順に 1 行 1 オブジェクトで示します。
json-runs-run = 実行の名前
json-runs-started = 開始時刻（RFC 3339）
json-runs-workload = 実行の呼び名
json-runs-status = `running`、`ok`、`missed`（満たされない条件がある）、`partial`、`failed`。記録を読めない場合は `broken`
json-runs-summary = メトリクスの名前ごとの合計
json-runs-record = 記録のディレクトリー
json-runs-error = 記録を読めない理由。`broken` の場合のみで、`started`、`workload`、`summary` は無い

## The catalogue and the system

json-metrics = メトリクスごとに 1 行 1 オブジェクトです。
json-metrics-name = メトリクスの名前
json-metrics-unit = 値の単位
json-metrics-kind = `counter`、`gauge`、`histogram`
json-metrics-help = 数える対象（英語）

json-monitors = モニターごとに 1 行 1 オブジェクトです。
json-monitors-name = モニターの名前
json-monitors-help = 観測する対象（英語）
json-monitors-standing = すべての実行を観測するか
json-monitors-may_block = 読み取り元を待つことがあり、専用のスレッドを使うか
json-monitors-metrics = 出力するメトリクスの名前
json-monitors-options = オプションの JSON スキーマ

json-doctor = システムの機能ごとに 1 行 1 オブジェクトです。
json-doctor-name = 機能の名前
json-doctor-available = sokudo が使えるか
json-doctor-why = 用途、または使えない理由
json-doctor-change = 使えるようにするための変更

## Groups

json-hosts = グループのエージェントごとに 1 行 1 オブジェクトです。応答しないエージェントには `name`、`answers`、`health`、`labels`、`certificate_until` だけがあります。
json-hosts-name = エージェントの名前
json-hosts-answers = 応答するか
json-hosts-health = 応答の状態: `ready`、`suspect`、`lost`
json-hosts-labels = 所有者が付けたラベル
json-hosts-certificate_until = 証明書の期限（RFC 3339）。不明なら null
json-hosts-number = 一覧での番号
json-hosts-address = ほかのホストから届くアドレス
json-hosts-os = オペレーティングシステム
json-hosts-cores = コアの数
json-hosts-nics = ネットワークインターフェース
json-hosts-nics-name = インターフェースの名前
json-hosts-nics-mtu_bytes = 最大のパケット
json-hosts-nics-up = 有効か
json-hosts-version = sokudo の版
json-hosts-workloads = 提供する負荷
json-hosts-clock_offset_seconds = コントローラーの時計との差
json-hosts-clock_error_seconds = その差の誤差の上限

## Test plans

json-jmx = JMeter のテスト計画の内容です。スキーマは `sokudo.jmx-check/1` です。
json-jmx-schema = 文書の名前と版: `sokudo.jmx-check/1`
json-jmx-plan = 計画の名前。読めない場合は null
json-jmx-written_by = 計画を書いた JMeter の版
json-jmx-accepted = 実行できるか
json-jmx-errors = エラーの数
json-jmx-disabled = 無効な要素の数
json-jmx-load = 計画が生成する負荷。読めない場合は null
json-jmx-load-groups = 各スレッドグループの負荷
json-jmx-load-groups-name = グループの名前
json-jmx-load-groups-stage = 実行される段階: `set_up`、`main`、`tear_down`
json-jmx-load-groups-users = 各ジェネレーターでの最大同時ユーザー数。到着に依存する場合は null
json-jmx-load-groups-ramp_ms = 全ユーザーが開始するまでの時間
json-jmx-load-groups-end_ms = 時間による終了までの時間。ループや操作者が終える場合は null
json-jmx-load-groups-loops = 各ユーザーの反復数。無制限または到着ごとに 1 回の場合は null
json-jmx-load-groups-samplers = サンプラーの数
json-jmx-load-groups-think_ms = サンプラーの前の平均待ち時間。式や負荷に依存する場合は null
json-jmx-load-users = 全グループ・全ジェネレーターでの最大同時ユーザー数
json-jmx-load-generators = それぞれが計画全体を実行するジェネレーターの数
json-jmx-load-ramp_ms = 最も長いグループの全ユーザーが開始するまでの時間
json-jmx-load-duration_ms = 時間による主段階の終了までの時間。決まっていない場合は null
json-jmx-elements = 計画の要素（クラスごと）
json-jmx-elements-element = クラスの名前
json-jmx-elements-count = 要素の数
json-jmx-elements-tier = sokudo での実装の優先度: 1、2、3。未知なら null
json-jmx-elements-treatment = sokudo での扱い
json-jmx-elements-first = ファイル内の最初の位置
json-jmx-functions = 計画が呼ぶ関数
json-jmx-functions-function = 関数の名前
json-jmx-functions-count = 呼び出しの数
json-jmx-files = 計画が読み書きするファイル
json-jmx-files-path = 計画に書かれたパス
json-jmx-files-by = 使う要素または関数
json-jmx-files-is_written = 書き込むかどうか
json-jmx-files-is_computed = パスが実行時にしか分からない値によるかどうか
json-jmx-files-needs_with = 計画のフォルダーの外にあり、`--with` で指定する必要があるかどうか。パスが実行時に決まる場合は null
json-jmx-properties = 計画が読むプロパティー
json-jmx-properties-name = プロパティーの名前
json-jmx-properties-value = 計画が受け取る値
json-jmx-properties-origin = 値の出所。計画自身の既定値なら null
json-jmx-properties-has_default = 計画に既定値があるか
json-jmx-properties-place = ファイル内で最初に使う位置
json-jmx-problems = エラーと警告
json-jmx-problems-severity = `error` または `warning`
json-jmx-problems-key = 問題の名前
json-jmx-problems-place = ファイル内の位置
json-jmx-problems-says = 問題の内容
json-jmx-problems-hint = 直し方
json-jmx-problems_not_shown = 一覧に含まれない問題の数
json-jmx-probe = 短い試行の測定値。`jmx probe` の場合のみ
json-jmx-probe-users = 試行のユーザー数
json-jmx-probe-samples = 完了したサンプルの数
json-jmx-probe-failed = 失敗したサンプルの数
json-jmx-probe-response_seconds = 平均応答時間
json-jmx-probe-pause_seconds = ユーザーの 2 つのサンプルの間の平均待ち時間
json-jmx-probe-demand_seconds = 1 サンプルが最も忙しい資源を占める時間。指定されていなければ null
json-jmx-probe-knee_users = 推定される膝のユーザー数。推定できなければ null
json-jmx-resolved = sokudo が実行する形の計画。`--resolved` の場合のみ

## Exported record

json-record = 記録全体です（`record.json`）。
json-record-manifest = 記録の `run.json`（スキーマ `sokudo.run/1`）
json-record-environments = ホストの名前ごとの環境
json-record-environments-each-host = ホストの名前
json-record-environments-each-facts = ホストについての事実
json-record-environments-each-facts-section = 事実の分類: `hardware`、`kernel`、`network` など
json-record-environments-each-facts-name = 事実の名前
json-record-environments-each-facts-value = 値。読めなかった場合は null
json-record-environments-each-facts-unit = 値が数値の場合の単位
json-record-environments-each-facts-source = 読み取り元、または読めなかった理由
json-record-series = 値の系列
json-record-series-host = 観測したホスト
json-record-series-source = 出力した負荷またはモニター
json-record-series-metric = メトリクスの名前
json-record-series-labels = 同じメトリクスのほかの系列と区別するもの
json-record-series-unit = 値の単位
json-record-series-points = 実行の開始からのナノ秒と値の組
json-record-histograms = 区間ごとの分布
json-record-histograms-host = 観測したホスト
json-record-histograms-source = 出力した負荷またはモニター
json-record-histograms-metric = メトリクスの名前
json-record-histograms-labels = 同じメトリクスのほかの分布と区別するもの
json-record-histograms-unit = 値の単位
json-record-histograms-t0_ns = 区間の始まり（実行の開始から）
json-record-histograms-t1_ns = 区間の終わり（実行の開始から）
json-record-histograms-n = 値の個数
json-record-histograms-p50 = 中央値
json-record-histograms-p90 = 90 パーセンタイル
json-record-histograms-p99 = 99 パーセンタイル
json-record-histograms-p999 = 99.9 パーセンタイル
json-record-histograms-p9999 = 99.99 パーセンタイル
json-record-histograms-max = 最大値
json-record-events = ある時点の出来事
json-record-events-t_ns = 実行の開始からの時間
json-record-events-host = 起きたホスト
json-record-events-source = 報告元
json-record-events-kind = 種類の短い名前: `phase-begin`、`peer-lost`、`clock-jump` など
json-record-events-says = メッセージ: `key` と `args`
json-record-findings = 結論。メッセージは `key` と `args`
json-record-checks = 満たすべき条件。メッセージは `key` と `args`

reference-test = 確かめ方
reference-contradictions = 結論を否定する観測
json-summary-limit-cause = 結果を限ったものを示す所見の名前。分からないときは null
json-summary-limit-confirmed = 実験で原因が確かめられたか。実験していないときは null
json-summary-limit-says = 原因を述べる文
json-summary-limit-for = 原因を裏付ける観測。異なる方法によるものが二つ以上。項目は `findings[].evidence` と同じ
json-summary-limit-against = 原因に反する観測
json-summary-limit-beside = ほぼ同じ重みのほかの原因の名前
json-summary-limit-suspected = 一種類の観測だけが示す原因の名前
json-summary-limit-refuted = 観測が否定した原因の名前
json-summary-limit-missing = 規則が読むはずで、記録にないメトリックの名前
json-summary-limit-for-says = 観測の内容
json-summary-limit-for-source = 読み取り元
json-summary-limit-for-host = 観測したホスト
json-summary-limit-for-metric = それを示すメトリクス
json-summary-limit-for-value = 数値
json-summary-limit-for-unit = 数値の単位
json-summary-limit-against-says = 観測の内容
json-summary-limit-against-source = 読み取り元
json-summary-limit-against-host = 観測したホスト
json-summary-limit-against-metric = それを示すメトリクス
json-summary-limit-against-value = 数値
json-summary-limit-against-unit = 数値の単位
