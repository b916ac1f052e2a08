# JMeter の計画についてのメッセージ。キー: jmx-<意味>。ヒントは元のメッセージの名前に続けます。

# ファイルの読み取り
jmx-too-large = ファイルが { $most } を超えています
jmx-unknown-encoding = `{ $encoding }` という文字コードはありません
jmx-malformed-text = この行に { $encoding } の文字として読めないバイトがあります
jmx-bytes-replaced = { $line } 行目に UTF-8 でないバイトがあります: JMeter と同じく、ファイルがどの文字コードを宣言していても U+FFFD として読みます
jmx-broken-xml = XML が壊れています: { $why }
jmx-not-closed = `<{ $tag }>` がファイルの終わりまでに閉じられていません
jmx-empty = ファイルに要素がありません
jmx-text-outside = 最初の要素の前に文字があります
jmx-unknown-entity = `&{ $entity };` は XML に元からある実体ではありません
jmx-doctype = 文書型定義 (DTD) は受け付けません。独自の実体はファイルを膨張させたり、ほかのファイルを読んだりできるためです
jmx-too-deep = 要素の入れ子が深すぎるか、要素が多すぎます (上限 { $most })
jmx-too-wide = 1 つの要素の属性が { $most } 個を超えています
jmx-too-many = モジュールとインクルードを展開すると要素が { $most } を超えます
jmx-not-a-plan = `<{ $tag }>` は JMeter テスト計画のルートではありません (`<jmeterTestPlan>` が必要です)
jmx-no-tree = `<jmeterTestPlan>` に `<hashTree>` がありません
jmx-not-paired = `<{ $tag }>` が順序を崩しています。各要素の次には、その配下を表す `<hashTree>` が来ます
jmx-bad-reference = 参照の先に、それより前の要素がないか、多すぎます
jmx-no-editor = `{ $element }` に `guiclass` がありません。ここでは実行しますが、JMeter はこのような要素のある計画を読み込みません
jmx-unknown-property-tag = `<{ $tag }>` というプロパティーの書き方はありません
jmx-not-executed = `{ $what }` は読めますが、まだ実行できません
jmx-not-executed-hint = 計画から取り除くか無効にしてください。`--unsupported warn` ではそれなしで計画を実行します
jmx-data-unreadable = データファイル `{ $file }` を読めません: { $why }
jmx-no-plan = 有効な `TestPlan` がファイルにありません

# 要素
jmx-unknown-element = `{ $element }` (「{ $name }」) は sokudo の知らない要素です
jmx-unknown-element-hint = この要素を無効にするか、`--unsupported warn` でこの要素と配下を除いて実行してください
jmx-needs-scripts = `{ $element }` (「{ $name }」) は Bean Scripting Framework のスクリプトで、実行できません
jmx-script-flaw = スクリプトは JavaScript として正しくありません: { $why }
jmx-script-java-hint = JavaScript 自身の Date、Math.random、JSON、正規表現を使ってください
jmx-script-java = スクリプトの { $line } 行目に Java のクラス (`{ $word }`) がありますが、ここに Java はありません
jmx-script-language-hint = Groovy、BeanShell、JavaScript のいずれかで書いてください。vars、props、prev、ctx、log、sampler が使えます
jmx-script-language = スクリプトは { $language } で書かれていますが、実行できるのは Groovy、BeanShell、JavaScript です
jmx-java-class = Java リクエストのクラスは { $class } ですが、実行できるのは JMeter 付属の JavaTest と SleepTest です
jmx-script-syntax = スクリプトの { $line } 行目: `{ $what }` をここでは解釈できません
jmx-script-incomplete = スクリプトの { $line } 行目: 途中で終わっています
jmx-script-construct = スクリプトの { $line } 行目: 構文 `{ $what }` には対応していません
jmx-script-class = スクリプトの { $line } 行目: クラス `{ $what }` に対応していないか、import がありません
jmx-script-method = スクリプトの { $line } 行目: `{ $what }` には対応していません (括弧内は引数の数)
jmx-script-property = スクリプトの { $line } 行目: プロパティー `{ $what }` には対応していません
jmx-script-fails = スクリプトの { $line } 行目: `{ $what }` が存在しないため、JMeter と同じくスクリプトはそこで失敗します
jmx-script-name = スクリプトの { $line } 行目: 変数 `{ $what }` に値を入れる箇所がその前にありません
jmx-script-depth = スクリプトの { $line } 行目: 入れ子または連なりが { $what } を超えています
jmx-script-subset-hint = Groovy と BeanShell のうち実行できる範囲は `docs/reference/ja/jmx-scripts.md` にあります
jmx-not-supported = `{ $element }` (「{ $name }」) は既知の要素ですが、その動作には対応していません
jmx-unheeded-property = プロパティー `{ $property }` は `{ $value }` ですが、ここでは何も変わりません
jmx-left-out = { $element } "{ $name }" は実行しません。結果ごとのファイルやメールは出力されませんが、負荷は同じです
jmx-graph-only = このリスナーはエディターで描画するだけでファイルを指定していません: ここでは何もしません
jmx-concurrency-iterations = このグループの繰り返し回数の上限には対応していません: プラグインは、上限に達したユーザーごとに新しいユーザーを始めます
jmx-unread-property = `{ $element }` のプロパティー `{ $property }` は読まれません
jmx-java-client = この計画は Java の HTTP クライアントを指定しています。要求は HttpClient4 と同じように送られるので、ヘッダー `User-Agent`、`Accept`、`Content-Type`、ヘッダーの順序、フォームのエスケープ、接続の使い方が異なります。そのクライアントが拒む `PATCH` も送られます
jmx-awaits-continue = ヘッダー `Expect: 100-continue` があるので、JMeter は本体を送る前にサーバーの許可を最大 3 秒待ちます。ここでは待たずに送ります
jmx-outside-groups = 「{ $name }」はどのスレッドグループにも属さず、実行されません
jmx-group-inside = スレッドグループ「{ $name }」がほかの要素の中にあります
jmx-below-sampler = 「{ $name }」はサンプラーの配下にあり、実行されません
jmx-two-managers = 「{ $name }」に同じ種類のマネージャーが複数かかっています。JMeter と同じく最も外側のもの「{ $manager }」を使います

# モジュールとインクルード
jmx-include-outside = `{ $path }` をインクルードできません: { $why }
jmx-include-unreadable = `{ $path }` をインクルードできません: { $why }
jmx-include-missing = `{ $path }` をインクルードできません: { $why }。JMeter と同じく、これなしで続けます
jmx-include-circle = `{ $path }` が自分自身を含んでいます: { $circle }
jmx-include-as-written-hint = JMeter はパスを書かれたままに扱い、その中の関数や変数を評価しません
jmx-no-fragment = `{ $path }` のテスト計画の直下にテストフラグメントがありません
jmx-module-included = モジュール "{ $name }" はインクルードされるファイルの中にあります: JMeter はファイルをインクルードする前にモジュールを結び付けるため、その場所では何も実行しません
jmx-no-module = パス `{ $path }` の要素が計画にありません

# 値
jmx-wrong-type = プロパティー `{ $property }` の型は { $type } ですが、`{ $value }` になっています
jmx-read-as-zero = プロパティー `{ $property }` の `{ $value }` は、JMeter と同じく { $zero } と見なされます
jmx-jdbc-driver = JDBC ドライバー `{ $driver }` には対応していません
jmx-jdbc-driver-hint = 対応しているのは org.postgresql.Driver、org.mariadb.jdbc.Driver、com.mysql.cj.jdbc.Driver、org.sqlite.JDBC です
jmx-jdbc-url = `{ $url }` には、このドライバーで、または sokudo と同じ方法では接続できません
jmx-jdbc-hosts = `{ $url }` は複数のホストを指定していますが、対応していません
jmx-jdbc-option = `{ $url }` のオプション `{ $option }` には対応していません
jmx-jdbc-url-hint = ドライバーの表示を変えるオプションを付けずに `{ $form }` の形で書いてください
jmx-jdbc-output = 呼び出し可能文の出力パラメーター (OUT、INOUT) には対応していません
jmx-jdbc-result-variable = スクリプトが結果変数 `{ $variable }` をオブジェクトとして参照していますが、対応していません
jmx-jdbc-result-variable-hint = 「変数名」に列の名前を指定してください。NAME_1、NAME_2 … と NAME_# にテキストとして入ります
jmx-jdbc-sqlite-update = sqlite-jdbc では、JMeter は Update Statement を実行したうえで失敗として報告します。Prepared Update Statement なら成功します
jmx-cookie-policy = クッキーのポリシー `{ $policy }` にはまだ対応していません
jmx-unknown-word = プロパティー `{ $property }` の `{ $word }` は次のいずれでもありません: { $known }
jmx-out-of-range = プロパティー `{ $property }` の { $value } は 0 から { $most } の範囲にありません
jmx-no-duration = スケジューラーが有効なので、`{ $property }` は 0 秒より長くなければなりません
jmx-bad-schedule = スケジュールを解釈できません: { $why }
jmx-bad-row = `{ $property }` に、必要な数値がそろっていない行があります

# 式
jmx-unknown-function = `{ $function }` は JMeter 5.6 の関数ではありません。プラグインの関数は実行できません
jmx-refused-function = `{ $function }` を実行できません: { $why }
jmx-refused-path = `{ $element }` は { $language } の式 `{ $path }` を評価できません: { $why }
jmx-script-function = 関数 `{ $function }`: { $why }
jmx-argument-count = 関数 `{ $function }` の引数は { $takes } です ({ $got } 個渡されました)
jmx-not-closed-call = `{ $text }` の `{ $function }` の呼び出しの後に `{"}"}` がありません
jmx-unclosed-expression = `{ $text }` の `${"{"}` に対応する `{"}"}` がありません。後ろの文字はそのまま送られます
jmx-too-complex = `{ $text }` の式の入れ子が深すぎます
jmx-fault = 関数 `{ $function }` が失敗しました: { $why }
jmx-variable-circle = 変数 `{ $variable }` が `${"{"}…{"}"}` を通して自分自身を参照しています
jmx-variable-too-early = 変数 `{ $variable }` は同じ要素の、まだ設定されていない変数を参照しています。後ろの要素に移してください

# 作者の意図と違うと思われること
jmx-no-group = 計画にスレッドグループがありません。何も実行されません
jmx-empty-group = グループ「{ $group }」にサンプラーがありません
jmx-no-users = グループ「{ $group }」のユーザー数が 0 です
jmx-json-counts = 変数 { $variables } 個、パス { $paths } 個、既定値 { $defaults } 個の数が合いません。JMeter はここで失敗してそのサンプルを失います。ここでも同じです
jmx-json-counts-hint = 変数ごとにパスと既定値を `;` で区切って書いてください
jmx-continues-forever = このグループのユーザーは { $loops } 回の繰り返しの後もまた最初から始め、自分では終わりません: `LoopController.continue_forever` が false ではありません。
jmx-endless =
    { $ends ->
        [failure] 「{ $name }」のユーザーはサンプルが失敗するまで繰り返します: 計画にはほかに終わらせるものがありません
       *[no] 「{ $name }」のユーザーは終わりなく繰り返します: 計画には終わらせるものがありません
    }
jmx-endless-hint = スレッドグループにループ回数を指定するか、スケジューラーを有効にして持続時間を指定してください。または `--duration 60s` を付けて実行してください
jmx-endless-loop =
    { $ends ->
        [failure] ループ「{ $name }」を抜けるのはサンプルが失敗したときだけです
       *[no] ループ「{ $name }」を抜けることがなく、ユーザーは終わりません
    }
jmx-endless-loop-hint = ループに回数を、またはスレッドグループに持続時間を指定するか、ループを抜けるフロー制御アクションを入れてください。または `--duration 60s` を付けて実行してください
jmx-no-loops = グループ「{ $group }」のループ回数が 0 なので何もしません
jmx-ramp-too-long = グループ「{ $group }」は全ユーザーが開始する前に終わります
jmx-timer-first = 「{ $group }」のユーザーは最初のリクエストの前にも待ちます。タイマーは各サンプラーの前に働きます
jmx-users-add-up = スレッドグループは並行して動きます。生成側 1 台あたり { $parts } = { $total } ユーザーです
jmx-property-unset = プロパティー `{ $property }` が設定されていないので、計画は `{ $value }` を使います
jmx-property-unset-hint = `-J { $property }=値` で設定してください
jmx-variable-unset = 変数 `{ $variable }` を設定するものがありません。`${"{"}{ $variable }{"}"}` がそのまま送られます
jmx-gaussian-mean = 「{ $timer }」の待ち時間の平均は { $offset } ms ではなく { $mean } ms です (絶対値を取るため)
jmx-no-keep-alive = { $count } 個の HTTP サンプラーが接続を維持しません。リクエストごとに接続し直すので、両端の CPU とローカルポートを消費します
jmx-saves-responses = 「{ $listener }」がレスポンスまたはリクエスト全体を `{ $file }` に保存します
jmx-responses-computed = このリスナーのレスポンスは保存されません: ファイル名の先頭に変数があるか、ファイル名を受け取る変数が指定されています
jmx-no-backend = クライアント `{ $client }` の `BackendListener`: 結果は転送されません
jmx-no-backend-hint = `-l FILE` または `--json` の出力をデータベースに取り込むか、計画から取り除いてください
jmx-no-data-file = データファイル `{ $file }` がありません
jmx-no-data-file-hint = 相対パスの起点は計画のディレクトリーです
jmx-data-file-unreadable = データファイル `{ $file }` を読めません: { $why }

# `sokudo jmx check` の出力
jmx-show-head = グループ { $groups } 個、サンプラー { $samplers } 個、無効な要素 { $disabled } 個
jmx-show-written-by = JMeter { $version } で作成
jmx-show-load = 負荷
jmx-show-elements = 要素
jmx-show-functions = 関数
jmx-show-files = 計画が名指すファイル
jmx-file-read = 読む
jmx-file-written = 書く
jmx-file-computed = パスは実行中に決まる
jmx-file-needs-with = 範囲外: --with が必要
jmx-file-within = 使えるフォルダーの中
jmx-show-properties = プロパティー
jmx-show-problems = 問題
jmx-show-group = グループ
jmx-show-stage = 段階
jmx-show-users = ユーザー
jmx-show-ramp = ランプ
jmx-show-end = 終了まで
jmx-show-loops = ループ
jmx-show-think = 平均待ち時間
jmx-show-element = 要素
jmx-show-count = 個数
jmx-show-tier = 階層
jmx-show-treatment = 扱い
jmx-show-total = 生成側 { $generators } 台で { $users } ユーザー、{ $ramp } 後に全員が開始
jmx-show-error = エラー
jmx-show-warning = 警告
jmx-show-dropped = ほかに { $count } 件の問題があります
jmx-show-fine = この計画のすべてを理解できました。送信はしていません。
jmx-show-fine-probed = この計画のすべてを理解できました。
jmx-show-refused = この計画は受け付けられません: エラー { $errors } 件。
jmx-stage-setup = setUp
jmx-stage-main = 本番
jmx-stage-teardown = tearDown
jmx-treated-runs = 対応
jmx-treated-no-effect = エディターの外では意味なし
jmx-treated-left-out = 警告して除外。負荷は同じ
jmx-treated-scripts = 実行できない言語のスクリプト
jmx-treated-not-supported = 未対応
jmx-treated-unknown = 不明
jmx-origin-built-in = 組み込み
jmx-origin-default = 計画の既定値
jmx-origin-unset = 設定なし

# 要素の一覧ページ (`sokudo jmx elements`)
jmx-reference-title = JMeter 計画の要素と関数
jmx-reference-elements = `sokudo jmx check` が知っているものの一覧です。このページは `sokudo jmx elements` が出力します。ここにない要素は、`--unsupported warn` か `skip` で除かない限りエラーです。数値と真偽値にはいつでも式を書けます。階層は、使われている計画の多さで決めた対応の順です。
jmx-reference-properties = 読み取るプロパティーとその型
jmx-reference-functions = 関数は JMeter と同じく `${"{"}__name(引数,引数){"}"}` と書きます。引数の中のコンマは `\,` です。乱数はすべて実行のシードから作ります。角括弧の引数は省略できます。
jmx-beside = JMeter 5.6.3 との比較
jmx-beside-equal = { $day } から、プロジェクトの計画で同じ
jmx-beside-differs = { $day } から比較。違い: { $what }
jmx-beside-nothing = 比較していません
jmx-differs-include = ファイルが計画ではない、テストフラグメントがない、または計画のフォルダーの外にあるとき、計画を拒否します。JMeter はそれなしで続けます
jmx-differs-transaction = 複数のフロー制御で途中終了したものを、サマリー行では 1 回だけ数えます
jmx-differs-responses = 変数を含むファイル名と、ファイル名を受け取る変数は、警告を出して無視します。ファイル名の列は空のままで、接続の失敗のファイルには、スタックトレースのない失敗の内容を書きます
jmx-differs-random = ランダムな選択は実行のシードに従います
jmx-differs-random-variable = 自身のシードがなければ、選択は実行のシードに従います
jmx-differs-exceptions = 例外の文と、JMeter がそれについて数えるバイト数
jmx-differs-not-xml = XML でない本文や正しくないパスについて、失敗したアサーションを行に加えません
jmx-differs-jdbc = ドライバーは PostgreSQL 42.7、MariaDB 3.5、MySQL 9、SQLite 3.50 のものとして扱います。その他のドライバー、クライアント証明書、複数ホスト、ドライバーの動作を変えるオプションは拒否します
jmx-differs-jdbc-rows = 出力パラメーターは拒否し、結果変数は設定しません。まれな型 (MariaDB の BLOB、PostgreSQL の複合型やネットワーク型) の文字列は Java のオブジェクトと異なります
jmx-differs-debug = JMeter 自身の変数とプロパティーの多くは表示しないため、バイト数が異なります
jmx-differs-xml-messages = 整形式の XML でないテキストと、正しくないパスについてのメッセージ
jmx-differs-tolerant = 整形式でないテキストを寛容に解析した結果と、正しくないパスについてのメッセージ
jmx-differs-parts-of-parts = フレームのような、サブサンプルのサブサンプルは調べません
jmx-differs-faults = 失敗したスクリプトのメッセージは、例外と、ここで分かる範囲のその説明です。存在しないメソッドや変数の説明と、assert の図は異なります
jmx-differs-faults-of-beanshell = 失敗したスクリプトのメッセージは BeanShell のものとは異なります
jmx-differs-path-messages = 無効なパスについてのメッセージの言葉が違います
jmx-reference-compared = JMeter との比較
jmx-reference-equal = `crates/sokudo/tests/plans` の計画は、JMeter 5.6.3 と同じリクエストを送り、同じ行を書きます。ほかの計画は `./dev compare-jmeter PLAN...` で比べられます。この比較で等しいもの: リダイレクト、クッキー、ヘッダー、埋め込みリソースを含む HTTP リクエスト。両方の種類の `TransactionController` (エラー、時間切れ、フロー操作で終わる場合も)。繰り返し、条件、`SwitchController`、`InterleaveControl`、`OnceOnlyController`、モジュールとインクルード。`CSVDataSet`。正規表現、境界、CSS、JSON パス、JMESPath の抽出とアサーション。テキスト、サイズ、時間のアサーション。いずれもサブサンプル、変数、その両方を対象にできます。要約行の件数。
jmx-reference-differs = 異なると分かっているもの: `XPath2Extractor` は各サブサンプルのテキストを調べます (JMeter は主サンプルのテキストをその数だけ調べます)。フレームなど、サブサンプルのさらに下のサンプルは調べません。無効な JSON パスについてのメッセージは別の文です。`MailerResultCollector` は何も送りません。複数のフロー操作で早く離れたトランザクションは、要約行では 1 回だけ数えます。
jmx-reference-call = 呼び出し
jmx-family-plan = 計画
jmx-family-group = スレッドグループ
jmx-family-controller = コントローラー
jmx-family-sampler = サンプラー
jmx-family-timer = タイマー
jmx-family-config = 設定エレメント
jmx-family-pre = 前処理
jmx-family-post = 後処理
jmx-family-assertion = アサーション
jmx-family-listener = リスナー
jmx-family-tool = エディターの道具
jmx-run-announce = { $groups } グループに { $users } ユーザー
jmx-run-announce-open = { $groups } グループに毎秒 { $rate } 件の到着
jmx-run-announce-schedule = 計画のスケジュールどおりの到着({ $groups } グループ)
jmx-run-warnings = 計画についての警告が { $count } 件あります: `sokudo jmx check` で確認できます
jmx-run-unwritten = 結果のうち { $bytes } バイトを書き込めません: { $error }
jmx-run-died = 異常終了したイベントループ: { $count }
jmx-run-problem = { $what }
jmx-run-stuck = { $count } 個のイベントループを終了を待たずに切り離しました: 計画の要素 (スクリプトまたは抽出) が終わりませんでした
jmx-run-trouble = ユーザーが { $count } 回できなかったこと: { $what }
jmx-run-lost-rows = 結果 { $count } 行が書き込めずに失われました

jmx-run-announce-divided = これを { $generators } 台の負荷生成ホストで分担し、同時に開始します。
jmx-run-announce-replicated = { $generators } 台の負荷生成ホストがそれぞれ計画全体を実行し、同時に開始します。
jmx-run-no-dashboard = `-o { $folder }` ではダッシュボードは作られません。-l と -e、または -g が必要です
jmx-run-unread = `-J { $name }` は効きません。計画はこのプロパティーを読みません。読むもの: { $read }
jmx-run-unread-none = `-J { $name }` は効きません。計画はプロパティーを読みません
jmx-run-no-key-store = { $place }: KeystoreConfig が証明書を選びますが、キーストアの指定がないため、ユーザーは証明書を提示しません (-Djavax.net.ssl.keyStore=FILE)
jmx-run-options-ignored = 受け取りますが、ここでは意味を持たないオプション: { $options }
jmx-show-probe = グループごとに 1 ユーザー
jmx-probe-saw = { $users } ユーザーが { $samples } 件のリクエストを送り、うち { $failed } 件が失敗しました。応答は平均 { $response }、休止は平均 { $pause } です
jmx-probe-knee = N* = (応答 + 休止) / 最も忙しい資源の { $demand } = { $users } ユーザー。これを超えると増えるのは応答時間で、スループットではありません
jmx-probe-least = N* は少なくとも { $users } ユーザーです (応答のすべてが 1 つの資源を占める場合)。1 件が実際にかける時間は --demand で指定してください
