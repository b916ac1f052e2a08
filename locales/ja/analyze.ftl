# 診断ルール、検査、結論の文言
# キー: rule-<ルール>-says と -next、evidence-<意味>、check-<名前>-held と -failed、verdict-<意味>
# 数値は単位付きの文字列として渡される。データグラムのレートは "6.41 M/s" の形

## 結論

verdict-best-above = { $flows }: { $bits }（毎秒 { $packets } 個のデータグラム）を維持できます。{ $loss }。これを超えると、{ $above }。
verdict-best-sender = { $flows }: { $bits }（毎秒 { $packets } 個のデータグラム）を維持できます。{ $loss }。{ $host } の送信スレッドは、これ以上送信できません。
verdict-best = { $flows }: { $bits }（毎秒 { $packets } 個のデータグラム）を維持できます。{ $loss }。
verdict-best-next = これを超えたときに何が起きるかは、今回の探索では分かりません。ストリーム数（--streams）を増やすか、データグラムを大きくして（--size）、もう一度探索してください。
verdict-disturbed = 確認のための測定は妨げを受けています。{ $why }
verdict-paced = { $flows }: { $bits } が届きました（毎秒 { $packets } 個、指定は毎秒 { $asked } 個）。{ $loss }。
verdict-unpaced = { $flows }: 最大速度で送信し、{ $bits }（毎秒 { $packets } 個のデータグラム）が届きました。{ $loss }。
loss-none = 損失はありません（{ $sent } 個中 0 個）
loss-next-to-none = 損失はほぼありません（{ $sent } 個中 { $missing } 個）
loss-some = 損失は { $loss } です（{ $sent } 個中 { $missing } 個）
loss-ratio = 損失は { $loss } です
verdict-one-pair = { $from } → { $to }
verdict-many-flows = { $count } 本のフローの合計
verdict-one-label = 「{ $label }」
verdict-many-labels = { $count } 種類のリクエストの合計
verdict-whole-run = 測定全体
verdict-undetermined = 原因は特定できません。読み取れたカウンターの中に、このレートの限界を説明するものはありません。
verdict-undetermined-lacking = 原因は特定できません。読み取れたカウンターの中に、このレートの限界を説明するものはありません。この環境で取得できなかった項目: { $names }
verdict-nothing = 測定結果がありません。何かを送信したフェーズが 1 つもありません。
verdict-together = { $count } 個の負荷を同時にかけました。数値は負荷ごとに分けて示します。
verdict-together-failing = { $count } 個の負荷を同時にかけましたが、すべてが通ったわけではありません。
verdict-together-load = { $load }: { $says }
verdict-together-more = ほかの { $more } 個の負荷は、フェーズの表にあります。
verdict-most-carried = { $phases } 個のフェーズのうち「{ $phase }」が最も多く運びました: { $bits }。
verdict-failed = 測定は失敗しました: { $problem }
verdict-failed-hosts = 実行は失敗しました。問題のあったホスト: { $hosts }。最初の問題: { $problem }
verdict-failed-unknown = 測定は失敗しました。原因は記録に残っていません。
verdict-partial = 結果の一部が欠けています: { $problem }
verdict-partial-hosts = 結果の一部が欠けています。問題のあったホスト: { $hosts }。最初の問題: { $problem }
verdict-partial-unknown = 結果の一部が欠けています。原因は記録に残っていません。
verdict-stopped-tail = { $load } のうち { $last } より後は何も届いていません。
verdict-stopped-head = { $load } のうち { $first } より前は何も届いていません。
verdict-stopped-both = { $load } のうち { $first } より前と { $last } より後は何も届いていません。
verdict-stopped-flows = { $flows } 本のフローのうち { $count } 本は負荷の一部の時間しか運んでいません。{ $from } → { $to } は { $load } のうち { $first } から { $last } まででした。
verdict-broken-flow = { $from } → { $to } は完了していません: { $error }。
verdict-distrust = この数値は信頼できません: { $check }
verdict-missed = 守られなかった条件: { $demands }。
verdict-failing = { $flows }: { $failure }
verdict-phase-failing = 「{ $phase }」は失敗しました。{ $failure }
verdict-phases-failing = 「{ $phase }」とほかの { $more } 個のフェーズは失敗しました。{ $failure }
verdict-paced-losing = { $flows }: データグラムの { $ratio } が失われました（{ $sent } 個中 { $missing } 個）。届いたのは { $bits }（毎秒 { $packets } 個、指定は毎秒 { $asked } 個）です。
verdict-none-arrived = { $flows }: 送った { $sent } 個のデータグラムは一つも届きませんでした。

## 探索の結果

search-limit-says = 維持できる最高レートの { $bits }（毎秒 { $packets } 個のデータグラム）を超えると、{ $above }。
search-none-says = 試したレートは、どれも維持できませんでした。{ $above }。
search-above-receiver-buffer = { $host } のソケットバッファーがあふれます（{ $rate } での損失は { $loss }、その{ $part }がここでの破棄）
search-above-receiver-host = { $host } がソケットの手前でデータグラムを破棄します（{ $rate } での損失は { $loss }、その{ $part }がここでの破棄）
search-above-path = { $from } と { $to } の間でデータグラムが消えます（{ $rate } での損失は { $loss }、その{ $part }がここでの損失）
search-above-sender-refusal = { $host } のカーネルがデータグラムを受け付けなくなります（{ $rate } での損失は { $loss }）
search-above-unreachable = { $to } から、受信するプログラムがないという応答が返ります（{ $rate } での損失は { $loss }）
search-above-host-busy = { $host } の CPU が不足します（{ $rate } での損失は { $loss }）
search-above-generator = { $host } の送信が追いつきません（{ $rate } での損失は { $loss }）
search-above-other = 損失の原因は所見 `{ $rule }` が示します（{ $rate } での損失は { $loss }）
part-all = すべて
part-share =  { $share } 

## 検査

check-complete-held = { $phase }: { $flows } 本のフローすべてについて、両端の数値がそろっています。
check-complete-failed = { $phase }: 両端の数値がそろっているのは { $flows } 本のフローのうち { $complete } 本だけです。
check-conditions-held = { $phase }: 表についての { $kept } 個の条件が成り立つ
check-conditions-failed = { $phase }: 表についての { $broken } 個の条件が成り立たない
check-acknowledged-held = { $phase }: 応答された { $all } 件の確定はすべて 1 回ずつデータベースにある
check-acknowledged-failed = { $phase }: 応答された { $all } 件の確定のうち { $lost } 件が失われ、{ $twice } 件が重複している
check-accounting-held = { $phase }: 受信数と欠落数の合計は、送信数 { $wanted } と一致しています。
check-accounting-failed = { $phase }: 受信数と欠落数の合計は { $seen } ですが、送信数は { $wanted } です。フローごとの差の合計は { $off } です。
check-attribution-held = { $phase }: 欠落したデータグラム（計 { $wanted }）は、すべて失われた場所に割り当てられています。
check-attribution-failed = { $phase }: 場所が割り当てられた損失は { $seen } ですが、欠落数は { $wanted } です。フローごとの差の合計は { $off } です。
check-loss-held = { $phase }: 損失は { $loss } で、許容値 { $bound } 以内です。
check-loss-failed = { $phase }: 損失は { $loss } で、許容値 { $bound } を超えています。

## ルールに共通の文言

advice-of-command = sokudo { $command } を使って: { $advice }
next-paced = { $remedy }レートを下げる場合は、--find 'loss<0.1%' で維持できる最高レートを探索できます。
next-unpaced = レートを指定しない送信は、遅い側があふれるまで送るため、損失が出るのは正常です。--find 'loss<0.1%' を使うと、維持できる最高レートを探索します。そのレートを高めるには: { $remedy }
next-unpaced-searched = レートを指定しない送信は、遅い側があふれるまで送るため、損失が出るのは正常です。今回の探索では、{ $bits } なら維持できると分かりました。そのレートを高めるには: { $remedy }
remedy-receiver-buffer = { $host } の受信バッファー（--rcvbuf）を大きくしてください。
remedy-receiver-buffer-short = { $host } の net.core.rmem_max を { $bytes } 以上にしてください。
remedy-receiver-busy = 余裕のない { $host } の受信スレッドの負荷を、ストリーム数（--streams）を増やして分散してください。
remedy-receiver-waiting = CPU を待たされていた { $host } の受信スレッドのためにコアを空けるか、受信バッファー（--rcvbuf）を大きくして待ち時間を吸収してください。
remedy-receiver-host = { $host } の net.core.netdev_max_backlog を大きくするか、受信キューをより多くのコアに分散してください。
remedy-path = { $from } と { $to } の間の機器を調べてください。レートを下げて損失がなくなればキューあふれ、残れば回線の異常が疑われます。
lost-all = 失われたデータグラムのすべて
lost-share = 失われたデータグラムの { $share } 
path-one = { $from } と { $to } の間
path-many = { $count } つの経路（最も多いのは { $from } と { $to } の間）

## ルール

rule-buffer-below-asked-receive-says = { $host } で確保できた受信バッファーは { $granted } で、要求した { $asked } に足りません。
rule-buffer-below-asked-send-says = { $host } で確保できた送信バッファーは { $granted } で、要求した { $asked } に足りません。
rule-buffer-below-asked-next = { $host } で次を実行してください: sysctl -w { $setting }={ $bytes }

rule-corruption-says = { $count } 個のデータグラムが壊れて届きました。最も多いのは { $host } です。UDP チェックサムでは検出されていません。
rule-corruption-next = { $host } のチェックサムオフロードを無効にして再測定してください。起きなくなれば、ネットワークデバイスかドライバーがデータを壊しています。

rule-duplicates-says = { $count } 個のデータグラムが重複して届きました（送信数の { $share }）。最も多いのは { $host } です。
rule-duplicates-next = { $host } の手前に、ブリッジのループ、ミラーポート、ブロードキャストモードのボンディングがないか確認してください。

rule-generator-limited-short-says = 送信側が限界です。指定した { $asked } に対し、送信できたデータグラムは { $sent } でした。最も遅れているのは { $host } です。
rule-generator-limited-late-says = { $host } は送信予定を守れていません。データグラムの { $share } が予定より 1 ms 以上遅れて送信されました。
rule-generator-limited-paced-next = { $host } のデータグラムを大きくする（--size）か、ストリーム数（--streams）を増やすか、指定するレート（--rate）を下げてください。
rule-generator-limited-busy-says = 送信側が限界です。{ $host } の送信スレッドが 1 コアの { $cpu } を使い、損失はほぼありません。ネットワークと受信側は、少なくともこのレートを処理できます。
rule-generator-limited-busy-next = ネットワークや受信側の限界を知るには、{ $host } のストリーム数（--streams）を増やすか、データグラムを大きくしてください（--size）。

rule-host-busy-sender-says = { $host } の CPU が不足していました。送信スレッドが、実行可能なのに CPU を得られない時間が { $share } ありました。
rule-host-busy-receiver-says = { $host } の CPU が不足していました。受信スレッドが、実行可能なのに CPU を得られない時間が { $share } ありました。
rule-host-busy-self-says = { $host } の CPU が不足していました。実行可能な sokudo のスレッドが CPU を待った時間は、1 秒あたり合計 { $seconds } です。
rule-host-busy-shared-says = { $hosts } 台のホストが 1 台のマシンの { $cores } コアを共有し、測定で使うスレッドは { $threads } 本あります。{ $thread }が、実行可能なのに CPU を得られない時間が { $share } ありました。
rule-host-busy-machine-says = { $hosts } 台のホストが共有するマシンの CPU が不足していました。{ $thread }が、実行可能なのに CPU を得られない時間が { $share } ありました。
thread-sending = { $host } の送信スレッド
thread-receiving = { $host } の受信スレッド
rule-host-busy-steal-says = { $host } は仮想マシンで、CPU 時間の { $share } がハイパーバイザーによって他に割り当てられました。
rule-host-busy-pressure-says = { $host } は混み合っていました。CPU を待つタスクのある時間が { $share } を占めました。
rule-host-busy-and-says = { $busy }{ $so }
rule-host-busy-so-short = このため、指定した { $asked } に対し、送信できたデータグラムは { $sent } でした（最も遅れているのは { $host }）。
rule-host-busy-so-late = このため、{ $host } のデータグラムの { $share } が予定より 1 ms 以上遅れて送信されました。
rule-host-busy-so-asks-late = そのため、リクエストの { $share } が 1 ms 以上遅れて { $host } を出ました。
rule-generator-limited-stood-says = リクエストの { $share } が { $host } で最大 { $wait } 順番待ちになりました。応答は最も遅いもので { $service } です。リクエスト側のプログラムが停止していました。
rule-generator-limited-silent-says = リクエストの { $share } が { $host } で最大 { $wait } 順番待ちになりました。{ $host } では { $silent } の間、監視も含めて何も測定されていません。リクエスト側のプログラムが停止していました。
rule-generator-limited-loop-stood-says = { $host } では { $silent } の間 (負荷の { $share })、監視も含めて何も測定されず、最も遅い応答は読まれるまで { $wait } 待ちました。リクエスト側のプログラムが停止していました。
rule-generator-limited-stood-next = { $host } のリクエスト側プログラムの実行を妨げたものを調べてください（負荷の推移で時刻が分かります）。負荷の少ないホストで、やり直してください。
rule-host-busy-next = { $host } の他の処理を止めるか、測定で使うスレッド数より多いコアを割り当てて、再測定してください。
rule-host-busy-shared-next = この数値が示すのはこのマシンの能力で、ネットワークの能力ではありません。ホストやストリームを減らすか、別々のマシンで `sokudo serve` を実行して測定してください。
rule-host-busy-steal-next = { $host } を動かす物理マシンが空いているとき、または専有コアで再測定し、結果を比べてください。

rule-low-mtu-says = { $from } → { $to } で運べるパケットは最大 { $mtu } B で、イーサネットの 1500 B より小さいため、同じ量を送るのにより多くのデータグラムが必要です。
rule-low-mtu-next = トンネルや VPN を使っていなければ、経路上に MTU の小さいインターフェースがないか確認してください。
rule-low-mtu-fragments-says = { $size } のデータグラムは、{ $from } → { $to } の経路 MTU { $mtu } B に収まりません。1 個が { $pieces } 個のフラグメントに分かれ、1 つ失うと全体が失われます。
rule-low-mtu-fragments-next = --size { $size } 以下にするか、経路全体の MTU を大きくしてください。

rule-path-loss-says = 経路が限界です。{ $lost }は { $path }で消えており、どちらのホストのカウンターにも現れていません。
rule-path-loss-device-says = 経路が限界です。{ $lost }は { $path }で消えており、その間に途中の破棄カウンターが増えています。
rule-path-loss-undetermined-says = 原因は特定できません。{ $lost }は { $path }で消えています。この環境で取得できなかった項目: { $names }。

rule-receiver-buffer-overflow-says = 受信側が限界です。{ $lost }が { $host } のソケットバッファーで破棄されました。
rule-receiver-buffer-overflow-short-says = 受信側が限界です。{ $lost }が { $host } のソケットバッファー（確保 { $granted }、要求 { $asked }）で破棄されました。
rule-receiver-buffer-overflow-many-says = 受信側が限界です。{ $lost }が { $hosts } 台のホストのソケットバッファーで破棄されました。最も多いのは { $host } です。

rule-receiver-host-drops-says = 受信側が限界です。{ $lost }が { $host } の内部で、ソケットに届く前に破棄されました。
rule-receiver-host-drops-many-says = 受信側が限界です。{ $lost }が { $hosts } 台のホストの内部で、ソケットに届く前に破棄されました。最も多いのは { $host } です。

rule-reordering-says = データグラムの { $share }（計 { $count }）が順序どおりに届きませんでした。最も多いのは { $host } です。
rule-reordering-next = { $host } までの間に、複数の経路やボンディング、1 つのフローを分担する受信キューがないか確認してください。

rule-sender-refusal-says = 送信側が限界です。{ $host } のカーネルが { $count } 個のデータグラム（送信しようとした数の { $share }）を受け付けませんでした。これらはホストから出ていません。
rule-sender-refusal-waited-says = { $host } のカーネルが、空きがないため送信呼び出しを { $count } 回断りました。これによる損失はありません。
rule-sender-refusal-next = { $host } の送信バッファー（--sndbuf）を大きくするか、デバイスのキューを長くするか、レートを下げてください。

rule-unreachable-says = { $from } からは 1 個も届いていません。{ $to } から、受信するプログラムがないというエラーが { $count } 回返りました。受信側が終了しているか、ポートが閉じているか、ファイアウォールが拒否しています。
rule-unreachable-partly-says = 測定の途中で、受信するプログラムがないというエラーが、{ $to } から { $from } に { $count } 回返りました。受信側の開始が遅れたか、先に終了したか、ファイアウォールが一部を拒否しています。
rule-unreachable-next = { $to } で `sokudo serve` が動いていること、途中のファイアウォールがそのポートへの UDP を通すことを確認してください。

## 根拠

evidence-kernel-drops = 測定中に { $host } のカーネルが { $function } で破棄したパケット ({ $reason }): { $value }
evidence-not-available = この環境で取得できなかった項目: { $names }
evidence-also-phases = 他のフェーズでも同様（{ $count } 件）: { $phases }
evidence-also-phases-and-trials = 他のフェーズでも同様（{ $count } 件）: { $phases }、探索の試行でも同様: { $trials } 回
evidence-also-trials = 探索の他の試行でも同様: { $trials } 回
evidence-buffer-granted = { $host } で確保できたソケットバッファー: { $value }
evidence-checksum-errors = 測定中の { $host } の UDP チェックサムエラー: { $value }
evidence-corrupted = { $host } に壊れて届いたデータグラム: { $value }
evidence-datagram-size = { $host } が送信したデータグラムのサイズ: { $value }
evidence-duplicates = { $host } に重複して届いたデータグラム: { $value }
evidence-late = { $host } が予定より 1 ms 以上遅れて送信した割合: { $value }
evidence-loss-runs = 連続して失われた数: 平均 { $value }、最大 { $max }
evidence-lost-at-receiver-host = { $host } の内部で、ソケットの手前で破棄された数: { $value }
evidence-lost-at-sender = { $host } のカーネルが受け付けなかったデータグラム: { $value }
evidence-lost-at-socket = { $host } の受信ソケットで破棄された数: { $value }
evidence-lost-on-path = { $host } までの経路で失われた数（最も多いフロー）: { $value }
evidence-nic-errors = 測定中の { $host } のデバイスエラー: { $value }
evidence-nic-receive-drops = 測定中に { $host } の受信デバイスが破棄したパケット: { $value }
evidence-nic-send-drops = 測定中に { $host } の送信デバイスが破棄したパケット: { $value }
evidence-no-port = { $host } で、受信するプログラムのないポートに届いたデータグラム（全プログラム）: { $value }
evidence-out-of-order = { $host } に順序どおりに届かなかったデータグラム: { $value }
evidence-path-mtu = { $host } から見た経路 MTU: { $value }
evidence-pressure = { $host } に CPU を待つタスクがあった時間の割合: { $value }
evidence-disk-pressure = { $host } の何らかのタスクがディスクを待っていた時間: { $value }
evidence-embedded = { $host }: 負荷のスレッドの時間のうち、その中で動くデータベースのトランザクションの割合: { $value }
evidence-reassembly-failures = 測定中に { $host } が組み立てられなかったフラグメント: { $value }
evidence-received = { $host } に届いたデータグラム: { $value }
evidence-receiver-cpu = { $host } の受信スレッドの CPU 使用率（1 コア = 100 %）: { $value }
evidence-receiver-wait = { $host } の受信スレッドが CPU を待った時間の割合: { $value }
evidence-refused-sends = { $host } で断られた送信呼び出し: { $value }
evidence-reordering-extent = { $host } で、遅れた 1 個を追い越したデータグラムの平均数: { $value }
evidence-latency-longest = { $host } での最も長い応答待ち（予定時刻から）: { $value }
evidence-service-longest = { $host } での最も長い応答待ち（実際の送信から）: { $value }
evidence-silent = { $host } で測定がすべて途絶えた最も長い時間: 通常より { $value } 長い
evidence-tcp-receive-queue = { $host } のプログラムがまだ読んでいないバイト数の平均: { $value }
evidence-self-wait = { $host } の sokudo のスレッド `{ $thread }` が CPU を待った時間の合計（1 秒あたり）: { $value }
evidence-selftest = { $host } の自己測定（1 スレッド、ループバック）: { $value }
evidence-sender-cpu = { $host } の送信スレッドの CPU 使用率（1 コア = 100 %）: { $value }
evidence-sender-wait = { $host } の送信スレッドが CPU を待った時間の割合: { $value }
evidence-sent-of-asked = 全送信ホストの送信数（最も遅れているのは { $host }）: { $value }、指定 { $asked }
evidence-setting = { $host } の { $setting }: { $value }
evidence-softnet-drops = 測定中に { $host } のコアのバックログで破棄されたパケット: { $value }
evidence-steal = ハイパーバイザーが { $host } から奪った CPU 時間の割合: { $value }
evidence-threads-and-cores = 測定で使うスレッド: { $threads } 本（{ $cores } コア）。1 秒あたり合計で、実行可能だった時間は { $wanted }、実行できた時間は { $got }
evidence-time-squeezes = 測定中に { $host } の受信処理が時間枠を使い切った回数: { $value }
evidence-udp-in = { $host } のカーネルが全ソケットに渡したデータグラム: { $value }
evidence-udp-receive-errors = { $host } で満杯のソケットに届いたデータグラム（全プログラム）: { $value }
evidence-udp-send-errors = 測定中の { $host } の UDP 送信バッファーエラー: { $value }
evidence-unreachable = { $host } に返った到達不能エラー: { $value }

## リクエストと応答

verdict-exchange-none =
    { $flows }: { $what ->
        [transactions] 実行できたトランザクションは 1 件もありませんでした。
       *[other] 応答は 1 件もありませんでした。
    }
verdict-exchange-untimed = { $flows }: 毎秒 { $rate } 件の応答がありました。応答時間は記録していません。
verdict-own = { $name } { $value }
verdict-own-and = { $before }、{ $own }
verdict-own-first = { $own }。{ $rest }
verdict-rr-closed =
    { $flows }: 閉ループで毎秒 { $rate } 件の{ $what ->
        [transactions] トランザクションを実行
       *[other] リクエストに応答
    }、{ $what ->
        [transactions] 所要時間
       *[other] 応答時間
    }は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です。
verdict-rr-open =
    { $flows }: 毎秒 { $asked } 件の指定に対し毎秒 { $rate } 件の{ $what ->
        [transactions] トランザクションを実行
       *[other] リクエストに応答
    }、予定時刻から数えた{ $what ->
        [transactions] 所要時間
       *[other] 応答時間
    }は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です。
verdict-jmx-open = { $flows }: 毎秒 { $asked } 件の到着の指定に対し毎秒 { $rate } 件のリクエストに応答、予定時刻から数えた応答時間は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です。
verdict-rr-best =
    { $flows }: 条件を満たすのは毎秒 { $rate } 件の{ $what ->
        [transactions] トランザクション
       *[other] リクエスト
    }まで、{ $what ->
        [transactions] 所要時間
       *[other] 応答時間
    }は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です。
verdict-crr-closed = { $flows }: 閉ループで毎秒 { $rate } 本の接続（リクエストは 1 件ずつ）、所要時間は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です。
verdict-crr-open = { $flows }: 毎秒 { $asked } 本の指定に対し毎秒 { $rate } 本の接続（リクエストは 1 件ずつ）、予定時刻から数えた所要時間は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です。
verdict-crr-best = { $flows }: 条件を満たすのは毎秒 { $rate } 本の接続まで、所要時間は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です。
verdict-exchange-errors =
    { $errors } 件の{ $what ->
        [transactions] トランザクション（{ $ratio }）が失敗しました。
       *[other] リクエスト（{ $ratio }）に応答がありませんでした。
    }{ $why }
verdict-exchange-untried =
    { $errors } 件の{ $what ->
        [transactions] トランザクションが失敗し、ほかのペースから見てさらに約 { $untried } 件を試行できませんでした（全体の { $ratio }）。
       *[other] リクエストに応答がなく、ほかのペースから見てさらに約 { $untried } 件を試行できませんでした（全体の { $ratio }）。
    }{ $why }
verdict-exchange-ports = 新しい接続に使えるローカルポートがなくなりました。閉じたポートは 1 分間使えません。net.ipv4.ip_local_port_range を広げるか、net.ipv4.tcp_tw_reuse を 1 にするか、レートを下げてください。
verdict-exchange-why = 最初のエラー: { $error }
verdict-exchange-unstarted =
    { $what ->
        [transactions] いずれも始まっていません。すべてのセッションが使用中でした。
       *[other] いずれも送信されていません。同時に許される数のリクエストが応答を待っていました。
    }
verdict-exchange-unknown = 原因は記録に残っていません。
rule-generator-limited-asks-late-says =
    { $what ->
        [transactions] トランザクションの { $share } が、空いたセッションがあったのに { $host } で 1 ms 以上遅れて始まりました。負荷のスレッドに CPU が割り当てられていません。
       *[other] リクエストの { $share } が、送れる状態だったのに 1 ms 以上遅れて { $host } を出ました。リクエスト側のスレッドに CPU が割り当てられていません。
    }
rule-generator-limited-asks-late-next = { $host } のリクエスト側スレッドに CPU を割り当ててください。ほかの処理を減らす、--threads を減らす、--wait block にする、のいずれかです。または --rate を下げてください。
rule-generator-limited-asks-late-loop-next = { $host } のイベントループに CPU を割り当ててください。ほかの処理を減らすか、複数のホストから負荷をかけてください。
rule-generator-limited-loop-says = 負荷生成側が限界でした。{ $host } のイベントループが 1 コアの { $cpu } を使っており、サーバーはこれより多く処理できる可能性があります。
rule-generator-limited-loop-next = 空いたコアがあれば { $host } のイベントループを増やす (--threads)、複数のホストから負荷をかける、またはリクエストを減らして (--rate) ください。
rule-generator-limited-loop-plan-next = 空いたコアがあれば { $host } のイベントループを増やすか (--threads)、複数のホストから負荷をかけてください。
verdict-errors-and-bad-status = リクエストの { $ratio } が失敗しました。{ $errors } 件は応答が完結せず、{ $bad } 件はステータス 400 以上でした。{ $why }
verdict-judged = サンプルの { $ratio } が失敗しました。応答はすべて届きましたが、アサーションに合わなかったか、ページの一部が欠けていました。
verdict-errors-and-bad-code = 問い合わせの { $ratio } が失敗しました。{ $errors } 件は応答がなく、{ $bad } 件はエラーコードで応答されました。{ $why }
verdict-bad-code = 問い合わせの { $ratio } が失敗しました。{ $bad } 件がエラーコードで応答されました。
verdict-bad-status = リクエストの { $ratio } が失敗しました。{ $bad } 件がステータス 400 以上でした。
rule-answer-wait-distance-says = 1 件のリクエストに { $mean } かかり、そのうち { $host } への往復に少なくとも { $lowest } かかります。閉ループのレートは距離と同時に出せるリクエストの数で決まります。
rule-answer-wait-distance-next = 同時に出せるリクエストを増やすか、往復を減らしてください。
rule-answer-wait-distance-trips-says = 1 件のトランザクションに { $mean } かかり、そのうち { $host } との { $trips } 回の往復 (1 回 { $lowest }) が少なくとも { $share } を占めます。閉ループのレートは距離とクライアント数で決まります。
rule-answer-wait-distance-trips-next = 往復を減らしてください。複数の文を 1 回にまとめる (パイプライン、バッチ、サーバー側の手続き) か、プログラムをデータベースの近くに置きます。クライアントを増やせば処理量は増えますが、応答は早くなりません。
rule-answer-wait-serial-says = リクエストが { $host } で順番を待っています。最短 { $shortest }、平均 { $mean } で、{ $under } 件が処理中ですが同時に処理されるのは約 { $worked } 件です。
rule-answer-wait-serial-next = { $host } でリクエストを 1 件ずつ処理しているもの（単一のスレッド、ロック、1 コアの飽和）を調べてください。
rule-answer-wait-pool-says = リクエストが { $host } で順番を待っています。最短 { $shortest }、平均 { $mean } で、{ $under } 件が処理中ですが同時に処理されるのは約 { $worked } 件です。
rule-answer-wait-pool-next = { $host } でその数だけ空きのあるプール、または CPU を調べてください。
rule-answer-wait-way-says = 1 件のリクエストに { $mean } かかり、接続の往復は最短 { $lowest } のところ { $trip } かかっています。{ $host } 自身ではなく、{ $host } との間の経路のキューが遅らせています。
rule-answer-wait-way-next = 経路の最も狭いリンクと、そのキューを埋めているものを突き止めてください。ホスト間の `sokudo stream` と `sokudo probe` で測れます。1 件で取り出すバイト数を減らすことも有効です。
rule-answer-wait-wait-says = 1 件のリクエストに { $mean }（最短 { $shortest }）かかります。時間は { $host } への経路か { $host } の処理で過ぎ、この負荷のスレッドは空いています。閉ループのレートは、この時間と同時に出せるリクエストの数で決まります。
rule-answer-wait-wait-next = { $host } の処理か経路を短くするか、同時に出せるリクエストを増やしてください。
evidence-service-mean = { $host } の応答の平均は { $value }
evidence-service-shortest = { $host } の応答の最短は { $value }
evidence-first-error = { $host }: 最初の失敗の内容: { $error }
rule-delayed-ack-behind-says = { $from } は、ウィンドウに余裕があるのに、読み取りの { $share } で小さなメッセージを { $to } が前のものを確認応答するまで保留していました（Nagle のアルゴリズム）。
finding-answer_wait-means = 閉ループでは、応答の時間と同時に出せるリクエストの数がレートを決めます。時間が過ぎる場所（距離、相手側のキュー、相手側の処理）を示します。
finding-answer_wait-signs = 両端のスレッドが CPU を必要とした時間は { $idle } 未満で、1 件のリクエストに { $clear } 以上かかる。最短の往復時間（トランザクションでは、その間にセッションが送るセグメントの数を掛ける）が { $way } を占めれば距離が理由である。平均が最短の { $queued } 倍以上なら、リクエストは互いに待っている。平均の往復時間が最短の { $grown } 倍以上で、同じだけの割合を占めるとき、{ $delayed } を超えて長ければ経路のキューが理由であり、それ以下なら遅延確認応答かもしれない。
finding-answer_wait-try = 同時に出せるリクエストを増やす（--window、--connections）か、相手側の 1 件あたりの処理を短くしてください。

rule-window-full-says =
    { $what ->
        [transactions] トランザクションの { $share } が、空いたセッションを待たされました。{ $host } での実行が予定より遅れています。
       *[other] リクエストの { $share } が、{ $host } からの先の応答を待たされました。応答がリクエストの予定より遅れています。
    }
rule-window-full-next = レートを下げるか、未応答のリクエストを増やしてください（--window、--connections）。{ $host } が一時停止したのなら、その時刻は負荷の推移で分かります。
rule-window-full-connections-next = レートを下げるか、接続を増やしてください（--connections）。{ $host } が一時停止したのなら、その時刻は負荷の推移で分かります。
rule-window-full-clients-next = レートを下げるか、セッションを増やしてください（--clients）。{ $host } が一時停止したのなら、その時刻は負荷の推移で分かります。
rule-window-full-threads-next = レートを下げるか、要求するスレッドを増やしてください（--threads）。{ $host } が一時停止したのなら、その時刻は負荷の推移で分かります。
rule-window-full-receipts-says = 送信中のメッセージの上限が限界です。{ $host } はすぐに読んでいますが、時間の { $share } で受領の通知を待ちました。
rule-window-full-receipts-next = 送信中にできる量を増やしてください（--inflight）。レートと往復時間の積だけ必要です。それを超えた分は応答時間を延ばすだけです。
rule-spinning-says = { $host } では、1 コアの { $cpu } が待機に使われました。--wait spin のスレッドは眠らずに待つため、CPU 時間は限界を示すものではありません。
rule-spinning-next = --wait block と比較し、スピンするスレッドには専用のコアを割り当ててください。
evidence-asks-late = { $host }: リクエストの { $value } が遅れて出た
evidence-window-full = { $host }: リクエストの { $value } に空きがなかった
evidence-window-waited = { $host } が送信中の上限に達して待った時間の割合: { $value }
evidence-latency-p99 = { $host } の応答の 99 % が、予定時刻から { $value } 以内
evidence-service-p99 = { $host } の応答の 99 % が、実際の送信から { $value } 以内
evidence-client-cpu = { $host }: 最も忙しいリクエスト側スレッドは 1 コアの { $value } を使用
evidence-client-wait = { $host }: リクエスト側スレッドが実行可能なのに CPU を得られなかった時間の割合は { $value }
evidence-server-cpu = { $host }: 最も忙しい応答側スレッドは 1 コアの { $value } を使用

## 接続の限界

rule-receive-window-says = 受信ウィンドウが限界です。{ $to } はデータをすぐに読んでいますが、ウィンドウが満杯のため、{ $from } は時間の { $share } で送信を止められました。
rule-receive-window-next = { $host } の受信バッファーをシステムの自動調整に任せるか、大きくしてください（--rcvbuf、--window-clamp、net.ipv4.tcp_rmem と net.core.rmem_max）。レートと往復時間の積だけ必要です。
rule-receive-window-system-next = { $host } の受信バッファーの上限を大きくしてください（net.ipv4.tcp_rmem）。レートと往復時間の積だけ必要です。
rule-send-buffer-says = { $host } の送信バッファーが限界です。時間の { $share } でバッファーが満杯でしたが、{ $to } への接続はもっと運べました。
rule-send-buffer-next = { $host } の送信バッファーをシステムの自動調整に任せるか、大きくしてください（--sndbuf、net.ipv4.tcp_wmem と net.core.wmem_max）。レートと往復時間の積だけ必要です。
rule-send-buffer-system-next = { $host } の送信バッファーの上限を大きくしてください（net.ipv4.tcp_wmem）。レートと往復時間の積だけ必要です。
rule-loss-limited-says = 損失が限界です。{ $from } から { $to } へのセグメントの { $share } が再送されました。TCP は損失のたびに送信量を減らします。
rule-loss-limited-tail-says = 損失が最も遅い応答に現れています。{ $from } と { $to } の間でセグメントが再送され、その待ち時間は最大 { $max } でした。
rule-loss-limited-next = { $from } と { $to } の間でパケットが失われる場所を調べるか（`sokudo datagram` で分かります）、損失を混雑とみなさない輻輳制御（--cc bbr）と比較してください。
rule-loss-limited-place-next = { $from } と { $to } の間でパケットが失われる場所を調べてください（`sokudo datagram` で分かります）。
rule-path-limited-says = 経路が限界です。{ $from } と { $to } の間はこの負荷を { $bits } 運びます。行きか帰りに { $queue } の待ち行列があり、両端がそれを待っています。
rule-path-limited-next = { $from } と { $to } の間のリンクの速度、そのリンクの他の通信量と比較してください。ストリームやバッファーを増やしても待ち行列が延びるだけです。--pacing をこのレートの少し下にすると短くなります。
rule-path-limited-compare-next = { $from } と { $to } の間のリンクの速度、そのリンクの他の通信量と比較してください。
rule-sender-cpu-says = 送信側が限界です。{ $host } の送信スレッドは 1 コアの { $cpu } を使い、書き込みの空きを{ $waited }。経路と受信側は、少なくともこれだけ運べます。
waited-never = 待っていません
waited-some = 待ったのは時間の { $share } だけです
rule-receiver-cpu-says = 受信側が限界です。{ $host } の受信スレッドは 1 コアの { $cpu } を使い、データを{ $waited }。送信側と経路は、少なくともこれだけ運べます。
rule-asking-cpu-says = { $host } のリクエスト側スレッドが限界です。1 コアの { $cpu } を使いました。
rule-answering-cpu-says = { $host } の応答側スレッドが限界です。1 コアの { $cpu } を使いました。
rule-sender-cpu-next = { $host } のストリームを増やすか（--streams）、1 回の書き込みを大きくするか（--size）、コピーを省いてください（--io auto）。
rule-sender-cpu-bus-next = { $host } で送信スレッドを増やして（--tx-threads）負荷を分けるか、メッセージを大きくして（--size）ください。
rule-receiver-cpu-bus-next = { $host } で処理スレッドを増やす（--rx queue --rx-threads）か、接続を増やして（--tx-threads）ください。
rule-receiver-cpu-next = ストリームを増やし（--streams）、{ $host } で複数のスレッドが受信するようにしてください。
rule-cpu-encrypted-next = 暗号化は CPU 時間を使います。ストリームを増やして（--streams）{ $host } の複数のコアに分け、--transport tcp と比較してください。
rule-cpu-encrypted-threads-next = 暗号化は CPU 時間を使います。スレッドを増やして（--tx-threads）{ $host } の複数のコアに分け、--transport tcp と比較してください。
rule-exchange-cpu-next = { $host } のスレッドを増やすか（--threads）、リクエストを減らしてください。
rule-application-asked-says = 指定した負荷は達成されました: { $asked }（送信は { $host }）。限界は指定した値です。
rule-application-asked-next = --rate を外すと、これより速いときの限界が分かります。
rule-application-limit-next = --limit を外すと、これより速いときの限界が分かります。
rule-application-pauses-says = { $host } のユーザーは、負荷の指定どおり、時間の { $share } を休止していました。ユーザー数と休止が毎秒の件数を決めています。
rule-application-pauses-next = ユーザー数を増やすか休止を短くすると、その先で何が限界になるか分かります。
rule-application-paced-says = 指定どおりの制限です。{ $host } の送信は { $asked } までに抑えられています（--pacing）。
rule-application-paced-next = --pacing を外すと、ほかの限界が分かります。
rule-application-reader-says = 読み出しの遅さが限界です。{ $host } のプログラムは、データが届いているのに、時間の { $share } を自分から休んでいました。
rule-application-reader-next = { $host } のプログラムがもっと早く読むようにしてください（--read-rate は、わざと遅くする指定です）。バッファーやウィンドウでは解決しません。
rule-application-consumer-next = { $host } のプログラムがもっと早くメッセージを受け取るようにしてください（--consume-rate は、わざと遅くする指定です）。バッファーやウィンドウでは解決しません。
rule-application-writer-says = 書き込みの遅さが限界です。{ $host } のプログラムは、空きがあるのに、時間の { $share } を自分から休んでいました。
rule-application-writer-next = { $host } のプログラムの送信量を増やしてください（--rate を上げる、まとめて送る、スレッドを増やす）。
rule-delayed-ack-step-says = 小さなメッセージが遅延 ACK を待っています。{ $from } と { $to } の間の応答の { $share } が、遅延 ACK の 40 ms だけ遅れました。
rule-delayed-ack-still-says = 小さな書き込みが遅延 ACK を待っています。時間の { $share } で、{ $from } には { $to } に送るデータがあり、ウィンドウも開いているのに、ほとんど何も送られていません。
rule-delayed-ack-next = Nagle アルゴリズムを無効にするか（--nagle を外す: TCP_NODELAY）、メッセージ全体を 1 回で書き込んでください。
rule-delayed-ack-server-next = 書き込む側のプログラムで Nagle アルゴリズムを無効にするか（TCP_NODELAY）、メッセージ全体を 1 回で書き込んでください。
rule-device-queue-says = { $host } の { $device } の送信待ち行列（{ $kind }）が、このホストから出る量の上限です。サンプルの { $share } でパケットが待ち、{ $drops } がここで破棄されました。
rule-device-queue-short-says = { $host } の { $device } の送信待ち行列（{ $kind }）が短すぎます。{ $drops } が、このホストを出る前に破棄されました。
rule-device-queue-entrance-says = { $host } の { $device } の入口にあるトラフィック制御が、このホストが受信した { $drops } を破棄しました。
rule-device-queue-next = { $host } で `tc -s qdisc show dev { $device }` を確認し、レートと上限を上げるか取り除いてください。または、要求するレートをそれより下げてください。
evidence-queue-backlog = { $host } の { $device } の待ち行列で待つ量の平均: { $value }
evidence-queue-held-back = レートを使い切ったため、{ $host } の { $device } の待ち行列がパケットを留めた、または破棄した回数: { $value }
evidence-queue-drops = { $host } の { $device } の待ち行列が破棄したパケット: { $value }
evidence-device-rate = { $host } の { $device } が送信した平均レート: { $value }
rule-softirq-core-says = { $host } のコア { $core } は、時間の { $share } を受信パケットの処理（softirq）に使い、余裕がありません。
rule-softirq-core-next = { $host } の受信キューを複数のコアに分け（RSS、RPS、irqbalance）、受信オフロード（GRO）を有効にし、測定のスレッドをそのコアから外してください。
rule-neighbour-says = { $host } では他のプログラムが { $others } コアを使い、測定のスレッドは時間の { $share } で、実行可能なのに CPU を割り当てられませんでした。測定値はその影響を受けています。
rule-neighbour-steal-says = ハイパーバイザーが { $host } の CPU 時間の { $steal } を他に割り当て、測定のスレッドは時間の { $share } で、実行可能なのに CPU を割り当てられませんでした。
rule-neighbour-next = { $host } の他の処理を止めるか、測定に専用のコアを割り当てて、やり直してください。
evidence-write-blocked = { $host } の送信プログラムが書き込みの空きを待った時間の割合: { $value }
evidence-read-idle = { $host } の受信プログラムがデータを待った時間の割合: { $value }
evidence-users-pause = { $host } のユーザーが休止していた時間の割合: { $value }
evidence-sender-slept = { $host } の送信スレッドが自分から休んだ時間の割合: { $value }（CPU の使用: { $cpu }）
evidence-receiver-slept = { $host } の受信スレッドが自分から休んだ時間の割合: { $value }（CPU の使用: { $cpu }）
evidence-tcp-receive-window = 相手の受信ウィンドウが満杯で、{ $host } のカーネルが送信できなかった時間の割合: { $value }
evidence-tcp-send-buffer = 送信バッファーが小さく、{ $host } のカーネルが送信できなかった時間の割合: { $value }
evidence-tcp-busy = { $host } のカーネルに送信待ちまたは送信中のデータがあった時間の割合: { $value }
evidence-tcp-window = { $host } に示された受信ウィンドウの最大値: { $value }
evidence-tcp-cwnd = { $host } の輻輳ウィンドウの平均: { $value } セグメント
evidence-tcp-round-trips = { $host } から見た往復時間: 平均 { $value }、最小 { $lowest }
evidence-tcp-retransmitted = { $host } が再送したセグメント: { $value }（送信数の { $share }）
evidence-tcp-not-sent = { $host } が書き込んだバイトがまだ送信されていなかった読み取りの割合: { $value }
evidence-tcp-even = { $host } の相手が受信を確認した速度のばらつき: { $value }
evidence-tcp-delivery = { $host } の相手が受信を確認した速度: { $value }、ばらつき { $spread }
evidence-tcp-under-way = { $host } が送信中のセグメントの平均: { $value }（輻輳ウィンドウは { $window }）
evidence-tcp-delayed-ack = { $host } が確認応答（ACK）を遅らせる最長時間: { $value }
evidence-host-retransmits = 測定中に { $host } が再送したセグメント（全プログラム）: { $value }
evidence-latency-max = { $host } の最も遅い応答: { $value }
evidence-latency-step = { $host } の応答のうち 36〜54 ms かかった割合（前後の時間帯より多い）: { $value }
evidence-nagle = 指定により Nagle アルゴリズムは有効（--nagle）
evidence-softirq = { $host } のコア { $core } が割り込み処理に使った時間の割合: { $value }
evidence-cores-idle = その間の { $host } の全コアのアイドル時間の割合: { $value }
evidence-busiest-core = { $host } で最も忙しいコア { $core } が使われた時間の割合: { $value }
evidence-others-cpu = { $host } で他のプログラムが使った CPU: { $value } コア
evidence-server-wait = { $host } の応答側スレッドが、実行可能なのに CPU を待った時間の割合: { $value }

## バイト列とメッセージ

verdict-stream = { $flows }: { $rate } のデータが届きました。
verdict-stream-asked = { $flows }: { $rate } のデータが届きました（指定は { $asked }）。
verdict-stream-missing = 送信した { $missing } が届いていません。{ $why }
verdict-bus = { $flows }: 毎秒 { $rate } 件のメッセージが届きました。{ $answers }。
verdict-bus-asked = { $flows }: 指定した毎秒 { $asked } 件のメッセージのうち、毎秒 { $rate } 件が届きました。{ $answers }。
verdict-bus-missing = 送信したメッセージのうち { $missing } 件が届いていません。{ $why }
answers-told = 応答時間は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です
answers-untold = 応答時間は測っていません
## 繰り返し測定
verdict-repeat = { $numbers } 回の中央値は { $median } です。{ $confidence } の信頼度で { $low } から { $high } の間にあります(各回は { $min } から { $max })。
verdict-repeat-few = { $numbers } 回の中央値は { $median } です。{ $low } から { $high } の間にある信頼度は { $confidence } だけです。95 % には 6 回以上が必要です。
verdict-repeat-one = { $runs } 回のうち数値が得られたのは 1 回だけです: { $median }。
verdict-repeat-apart = 最も速い回は最も遅い回の { $factor } 倍の速さです。1 回の測定からはほとんど何も言えません。
verdict-repeat-middle = 中央の回: { $says }
verdict-search-range = 見つかった速さは { $trials } 回中 { $held } 回の試行で保てました。処理量の中央値は { $confidence } の信頼度で { $low } から { $high } の間です{ $above }。
search-range-above = 。{ $above } では限度を超えました
search-range-open = 。これより速い試行で限度を超えたものはありません
## Sweeps
verdict-sweep-knee = 屈曲点は要求 { $offered } です。ここでの処理量は { $delivered } でした{ $latency }。次の段階 (要求 { $next-offered }) の処理量は { $next-delivered } でした{ $next-latency }。
verdict-sweep-knee-option = 屈曲点は --{ $option } { $value } です。ここでの処理量は { $delivered } でした{ $latency }。次の段階 { $next } では { $next-delivered } でした{ $next-latency }。
verdict-sweep-above = この範囲に屈曲点はありません。最も多く処理した段階 (要求 { $offered }) でも { $delivered } を処理できました{ $latency }。
verdict-sweep-below = この範囲に屈曲点はありません。最も低い段階 (要求 { $low-offered }) で、すでに処理能力を超えています。処理量は { $low-delivered } でした{ $low-latency }。
verdict-sweep-unknown = 数値の得られた段階が少なく、屈曲点は判定できません。要求 { $offered } のときに最も多く、{ $delivered } を処理しました{ $latency }。
verdict-sweep-most = この範囲に屈曲点はありません。処理量が最も多かったのは --{ $option } { $value } で、{ $delivered } でした{ $latency }。
sweep-latency = { "" } (p99 { $p99 })
sweep-no-latency = { "" }
verdict-sweep-next-finer = 屈曲点の付近を細かい間隔で測定するか、--find 'p99<1ms' で条件を満たす最高レートを探索してください。
verdict-sweep-next-keep = 屈曲点の値を使ってください。それより増やしても、遅延や CPU の負担が増えるだけで、処理量はほとんど増えません。
verdict-sweep-next-lower = 範囲の下限を低くしてください。
verdict-sweep-next-higher = 処理しきれない段階が現れるまで、範囲の上限を高くしてください。
verdict-sweep-next-more = 屈曲点の判定には、数値の段階が 4 つ以上必要です。範囲を広げると見つかることがあります。

## Demands
check-bound-held = { $phase }: { $what } は { $measured } で、許容値 { $bound } 以内です。
check-bound-failed = { $phase }: { $what } は { $measured } で、許容値 { $bound } を超えています。
check-bound-unmeasured = { $phase }: { $what } を測定できなかったため、{ $bound } を守ったとは言えません。
check-rate-held = { $phase }: { $measured } に達しました（求めたのは { $bound } 以上）。
check-rate-failed = { $phase }: { $measured } にとどまり、求めた { $bound } を下回りました。
check-errors-held =
    { $phase }: 失敗した{ $what ->
        [transactions] トランザクション
       *[other] リクエスト
    }は { $failed } で、許容値 { $bound } 以内です。
check-errors-failed =
    { $phase }: { $what ->
        [transactions] トランザクション
       *[other] リクエスト
    }の { $failed } が失敗しました。数値が全体を表すとみなせる { $bound } を超えています。

## プローブ

verdict-probe = { $flows }: 往復時間は中央値 { $p50 }、p99 { $p99 }、最大 { $max } です。{ $ways }
verdict-probe-ways = 片道遅延の中央値は、上り { $up }、下り { $down } です。
verdict-probe-no-ways = ホスト間の時計の精度が足りず、上りと下りに分けられません。
verdict-probe-none-lost = 送った { $sent } 個のプローブは一つも失われませんでした。
verdict-probe-lost = 送った { $sent } 個のプローブのうち { $up } 個が上りで、応答のうち { $down } 個が下りで失われ、{ $late } 個は遅れて届きました。
verdict-probe-lost-somewhere = 送った { $sent } 個のプローブのうち { $lost } 個に応答がありませんでした。
verdict-probe-unsent = { $all } 個のプローブのうち { $unsent } 個は、送信スレッドの起床が間に合わず送れませんでした。このホストが混んでいるか、--every が短すぎます。
check-knee-failed = 最小のユーザー数で数値が出なかったか、要件が破れました。
check-found-failed = 試したどのレートも条件を満たしませんでした: { $bounds }

## グループの組

verdict-pairs-hold = { $hosts } 台のホストの向きのある組 { $pairs } すべてが { $expected } を満たします。
verdict-pairs-through = { $hosts } 台のホストのあいだは、どの層もすべて通ります (向きのある組 { $pairs })。
verdict-pairs-through-some = { $hosts } 台のホストの向きのある組 { $all } のうち、試した { $pairs } 組ではどの層もすべて通ります。ほかの組は試していません。
verdict-pairs-hold-some = { $hosts } 台のホストの向きのある組 { $all } のうち、試した { $pairs } 組は { $expected } を満たします。ほかの組は試していません。
verdict-pairs-fail = { $hosts } 台のホストの向きのある組 { $pairs } のうち { $failed } が { $expected } を満たしません: { $names }。
verdict-pairs-dead = { $hosts } 台のホストの向きのある組 { $pairs } のうち { $failed } が不合格で、まったく通らないものがあります: { $names }。
verdict-pairs-worst = { $from } → { $to }: { $what }。
verdict-mesh = 全ホストが同時に互いへ送ると、合わせて { $bits } を運びます (公平性 { $fairness }、1 ならすべて等しい)。
verdict-pairs-speeds = いちばん遅い組 { $from } → { $to } は 1 本の接続で { $slowest }、中央の組は { $middle } を運びます。
pair-names = { $names }
pair-names-more = { $names } ほか { $more } 組
pair-and = { $first }、{ $rest }
pair-dead = 何も通りません ({ $layers })
pair-dead-why = 何も通りません ({ $layers }: { $why })
pair-broken-payload = { $layer } は { $measured } で、必要な { $limit } に届きません
pair-broken-bound = { $layer } の { $what } は { $measured } で、上限 { $limit } を超えます
pair-broken-unknown = { $layer } には { $what } の値がありません
pair-broken-alone = { $broken } (ほかが静かなときは { $alone })
check-pair-held = { $from } → { $to }: { $expected } を満たします。
check-pair-through = { $from } → { $to }: どの層も通ります。
check-pair-failed = { $from } → { $to }: { $what }。
check-expect-held = { $asked }: 測定した { $pairs } 組すべてが守っています。
check-expect-failed = { $asked }: 測定した { $pairs } 組のうち { $missed } 組が守っていません。
rule-hot_link-in = 目立つ { $count } 組 (全 { $pairs } 組) はすべて { $host } への送信です。個々の組ではなく、{ $host } に入る経路が遅いか壊れています。
rule-hot_link-out = 目立つ { $count } 組 (全 { $pairs } 組) はすべて { $host } からの送信です。個々の組ではなく、{ $host } から出る経路が遅いか壊れています。
rule-hot_link-both = 目立つ { $count } 組 (全 { $pairs } 組) はすべて { $host } が端にあります。個々の組ではなく、{ $host } のリンクかホスト自身が遅いか壊れています。
rule-hot_link-next = { $host } のリンクを調べてください。ポートの速度とデュプレックス (`ethtool`)、インターフェースのエラー、ケーブル、そのホストで動いているほかのプログラムです。
evidence-pair-carries = { $from } → { $to } は 1 本の接続で { $bits } を運びます。
check-skew-held = { $phase }: フローは { $spread } 以内にそろって始まりました (許容 { $most })。
check-skew-failed = { $phase }: フローの開始が { $spread } ずれました。繰り返しても許容の { $most } を超えました。

## check の各層

verdict-layers = { $from } → { $to }: { $layers }。
verdict-layers-messages = 両端のプログラム: { $layers }。
verdict-layers-services = サービス: { $layers }。
layer-probe = 往復 { $p50 }、損失 { $loss }
layer-rr = 応答まで { $p50 }、99 % は { $p99 } 以内
layer-crr = 新しい接続 { $rate } 本/秒
layer-stream = 1 本の接続で { $bits }
layer-bus = メッセージ { $rate } 件/秒
layer-http = Web リクエスト { $rate } 件/秒、99 % は { $p99 } 以内に応答
layer-target = アプリケーションサーバーへのリクエスト { $rate } 件/秒、99 % は { $p99 } 以内に応答、待ち時間はスレッド { $queue }、データベース接続 { $pool }
layer-replicate = ファイル { $bytes }、{ $files } 個/秒
layer-tpcb = 組み込みデータベースの振替 { $rate } 件/秒

## 止まったフロー

rule-uneven-start-says = フローの開始が { $spread } ずれ、許容の { $most } を超えました。繰り返しても同じでした。最後に始まったのは { $from } → { $to } です。合計は、同時に行った結果ではありません。
rule-uneven-start-next = { $host } の開始が遅れた理由を調べてください。コアでほかの仕事が動いているか、フローに対してコアが足りません。または `--max-skew` を大きくしてください。
rule-uneven-start-plan-next = { $host } の開始が遅れた理由を調べてください。コアでほかの仕事が動いているか、ユーザー数に対してコアが足りません。
evidence-start-first = 最初のフローが、決めた時刻からこれだけ後に { $host } で始まりました: { $value }
evidence-start-last = 最後のフローが、その時刻からこれだけ後に { $host } で始まりました: { $value }
rule-stalled-says = { $from } → { $to } は、開始から { $begin } 後に { $seconds } のあいだ止まりました。{ $near } には送るデータがありましたが、何も送りませんでした。
rule-stalled-unacknowledged = { $from } → { $to } は、開始から { $begin } 後に { $seconds } のあいだ止まりました。{ $near } が送ったデータに確認応答がなく、{ $again } 回再送しました。{ $far } に何も届かなかったか、何も戻らなかったかです。
rule-stalled-unread = { $from } → { $to } は、開始から { $begin } 後に { $seconds } のあいだ止まりました。{ $far } に届いたデータを、プログラムが読みませんでした。
rule-stalled-next-path = その時刻の { $near } と { $far } のあいだの経路を調べてください。両方のインターフェースのリンク状態とエラー (`ip -s link`)、スイッチのログ、接続を忘れるファイアウォールです。
rule-stalled-next-lost = { $far } の sokudo が終了した理由を調べてください。最後の出力と、システムに停止させられていないか（`dmesg`）です。
rule-stalled-next-program = その時刻に { $far } が何をしていたかを調べてください。停止したプログラム、CPU の不足、ほかの待ちです。
evidence-stall-send-queue = 止まった期間の終わりに { $host } の送信キューで待っていたバイト数: { $value }
evidence-stall-again = そのあいだに { $host } が再送したセグメント数: { $value }
evidence-stall-window = { $host } に示されていた受信ウィンドウ: { $value }
evidence-stall-receive-queue = { $host } に届いて読まれていなかったバイト数: { $value }
evidence-stall-far-queue = 反対側の { $host } の送信キューで待っていたバイト数: { $value }
evidence-stall-nic-received = フェーズ中に { $host } のインターフェースが受信後に破棄したパケット数: { $value }
evidence-stall-nic-sent = フェーズ中に { $host } のインターフェースが送信前に破棄したパケット数: { $value }
evidence-stall-nic-broken = フェーズ中に { $host } のインターフェースで壊れていたパケット数: { $value }
rule-hot_link-incast = 遅いフロー { $count } 本 (全 { $pairs } 本) はすべて同時に { $host } へ送信し、合計 { $bits } です。{ $host } のリンクか、その手前のポートのバッファーで衝突しています (インキャスト)。
evidence-flow-carries = { $from } → { $to } は { $bits } を運びます。
rule-name-server-errors-failures-says = { $count } 件の問い合わせ (全体の { $share }) が SERVFAIL で応答されました。{ $server } は答えを見つけられませんでした。
rule-name-server-errors-failures-next = サーバーのログを見てください。問い合わせ先のサーバーが応答していないか、署名 (DNSSEC) の検証に失敗しています。
rule-name-server-errors-refused-says = { $count } 件の問い合わせ (全体の { $share }) が REFUSED で応答されました。{ $server } はこのホスト、またはこの名前には答えません。
rule-name-server-errors-refused-next = サーバーのアクセス制限とこのホストのアドレスを比べてください。自分のゾーンだけを持つサーバーは再帰を断ります。
rule-name-server-errors-others-says = { $count } 件の問い合わせ (全体の { $share }) がその他のエラーコードで応答されました。{ $server } は問い合わせを読めないか、対応していません。
rule-name-server-errors-others-next = `dig @サーバー 名前 タイプ` のような診断ツールで一度問い合わせ、EDNS なし (--udp-bytes 0) でも試してください。
rule-lost-queries-nobody-says = { $server } への問い合わせ { $count } 件 (全体の { $share }) に応答がありません。相手のホストは、そのポートで待ち受けるものがないと答えました。
rule-lost-queries-nobody-next = サーバーが動いているか、どのアドレスとポートで待ち受けているかを確認してください。再起動中のサーバーはしばらく応答しません。
rule-lost-queries-own-says = { $server } への問い合わせ { $count } 件 (全体の { $share }) に応答がなく、その間に { $host } で同じくらいの数のデータグラムがソケットあふれで捨てられました。負荷生成側の読み取りが間に合っていません。
rule-lost-queries-own-next = { $host } のスレッドを増やすか (--threads)、同時に待つ問い合わせを減らし (--window)、net.core.rmem_default を上げてください。
rule-lost-queries-unknown-says = { $server } への問い合わせ { $count } 件 (全体の { $share }) に時間内の応答がありません。途中で失われたか、サーバーのソケットあふれで捨てられたか、意図的に答えられていません。
rule-lost-queries-unknown-next = サーバーで UDP の RcvbufErrors (`nstat -az UdpRcvbufErrors`) とレート制限を確認し、黙って失われることのない --transport tcp と比べてください。
rule-lost-queries-requests-says = { $server } へのリクエスト { $count } 件 (全体の { $share }) に時間内の応答がありません。データグラムかその応答が途中で失われたか、ソケットあふれで捨てられました。閉ループでは、タイムアウトまで 1 件ずつその場所をふさぎます。
rule-lost-queries-requests-next = ホスト間の `sokudo probe` で損失の量と向きが分かります。失われたものを再送する --transport tcp と比べてください。
rule-truncated-responses-says = { $server } の応答 { $count } 件 (全体の { $share }) がデータグラムに収まらず、切り詰められました。リゾルバーならこれらを TCP で問い合わせ直します。
rule-truncated-responses-next = 経路が分割せずに運べる範囲で大きな応答を許すか (--udp-bytes)、TCP で測定してください (--transport tcp)。
evidence-error-codes = { $host } が受けた、このエラーコードの応答: { $value }
evidence-whole-answers = { $host } が受けた NOERROR の応答: { $value }
evidence-lost-queries = { $host } の応答のない問い合わせ: { $value }
evidence-lost-requests = { $host } の応答のないリクエスト: { $value }
evidence-own-socket-full = { $host } でソケットあふれにより捨てられた UDP データグラム: { $value }
evidence-truncated = { $host } が受けた切り詰められた応答: { $value }
rule-request-failures-refused-says = 接続が { $count } 回拒否され、リクエストの { $share } が失敗しました。待ち受けがないか、サーバーが接続を断っています。
rule-request-failures-refused-next = サーバーが動いているか、どのポートで待ち受けているかを確認してください。再起動中のサーバーはしばらく拒否します。
rule-request-failures-resets-says = 接続が { $count } 回、受け付けられた後にリセットされ、リクエストの { $share } が失敗しました。同時接続数の上限を超えたサーバーの振る舞いです。
rule-request-failures-resets-next = サーバーの同時接続数の上限を上げるか、待たせる設定にしてください。上限の名前はサーバーのログにあります。
rule-request-failures-closed-says = サーバーが { $count } 回、応答の前に接続を閉じ、リクエストの { $share } が失敗しました。余分な接続や休止中の接続を切っているか、再起動しました。
rule-request-failures-closed-next = サーバーの keep-alive 時間とユーザーの休止を比べ、ログで再起動を探してください。
rule-request-failures-unanswered-says = 接続の呼び出しに { $count } 回、時間内に応答がなく、リクエストの { $share } が失敗しました。受け付け待ちの列があふれているか、途中でパケットが失われています。
rule-request-failures-unanswered-next = サーバーで `ss -ltn` (Recv-Q が Send-Q に近い) と ListenOverflows を見て、backlog と net.core.somaxconn を上げてください。
rule-request-failures-timeouts-says = { $count } 件の応答が時間内に来ず、リクエストの { $share } が失敗しました。接続は受け付けられても処理されていません。
rule-request-failures-timeouts-next = サーバーのスレッドと、それが待っているもの (接続プール、ロック、データベース) を見てください。
rule-request-failures-plain-says = サーバーはこのポートで平文の HTTP を話しますが、https で接続しました。リクエストの { $share } が失敗しました。
rule-request-failures-plain-next = http:// を使うか、サーバーが TLS を話すポートを指定してください。
rule-request-failures-malformed-says = { $count } 件の応答が HTTP でないか、示された形式と違い、リクエストの { $share } が失敗しました。
rule-request-failures-malformed-next = そのポートで何が待ち受けているか、途中で応答が書き換えられていないかを確認してください。
rule-connection-churn-says = { $requests } 件のリクエストに { $connections } 本の接続が作られました。リクエストと同じだけ接続の負荷でもあります。
rule-connection-churn-time-says = { $requests } 件のリクエストに { $connections } 本の接続が作られ、接続の確立に (TLS を含めて) リクエストの時間の { $share } を使っています。新しい接続がレートを制限しています。
rule-connection-churn-cheap-says = { $requests } 件のリクエストに { $connections } 本の接続が作られ、1 件は { $mean } で応答されています。これほど短いリクエストでは、サーバーと生成側にとって接続の確立の負担がリクエストそのものと同程度になります。
rule-connection-churn-busy-says = { $requests } 件のリクエストに { $connections } 本の接続が作られ、リクエスト側スレッドは時間の { $share } で動作中または CPU 待ちでした。新しい接続がレートを制限しています。
rule-connection-churn-next = 接続を維持してください。サーバーが `Connection: close` を返すか一定数で閉じていないか、負荷の設定がそれを求めていないか (テスト計画の “Use KeepAlive”) を確認してください。実際のユーザーが毎回接続するなら、生成元を増やし、net.ipv4.ip_local_port_range を広げてください。
rule-dropped-calls-says = { $to } への接続に最長 { $connect } かかりました。呼び出しをやり直す時間であり、呼び出しが捨てられています。
rule-dropped-calls-next = サーバーで ListenOverflows (`nstat -az TcpExtListenOverflows`) を見て backlog を上げてください。増えていなければ途中の損失を調べてください。
rule-dropped-calls-queue-says = { $to } への接続に最長 { $connect } かかりました。呼び出しをやり直す時間であり、{ $host } は接続の待ち行列が満杯のため呼び出しを捨てました。
rule-dropped-calls-queue-next = サーバーの backlog と net.core.somaxconn を上げるか (`ss -ltn` の Send-Q で確認できます)、接続をより速く受け付けるようにしてください。
rule-server-stalls-once-says = すべてのリクエストが { $begin } から { $end } まで止まりました。サーバー全体、またはそこまでの経路が停止していました。
rule-server-stalls-once-next = 最初のリクエストから { $begin } 後に何が起きたかを、サーバーのログと監視で調べてください: ガベージコレクション、チェックポイント、再起動、リンク断。
rule-server-stalls-even-says = すべてのリクエストが { $count } 回、平均 { $mean }、{ $period } ごとに止まりました。ガベージコレクション、チェックポイント、スナップショットのように、サーバー全体が停止しています。全時間の { $share } を占めます。
rule-server-stalls-says = すべてのリクエストが { $count } 回、平均 { $mean }、最長 { $longest }、不規則な間隔で止まりました。サーバー全体が停止しています。全時間の { $share } を占めます。
rule-server-stalls-stopped-says = すべてのリクエストが { $count } 回、最長 { $longest } 止まり、サーバーのプロセスが停止状態 (状態 T) でした。シグナルかデバッガーが止めています。
rule-server-stalls-quota-says = すべてのリクエストが { $count } 回、平均 { $mean }、{ $period } ごとに止まりました。カーネルの CPU 時間クォータの周期であり、サーバーは毎回クォータを使い切っています。全時間の { $share } を占めます。
rule-server-stalls-quota-next = サーバーのコントロールグループの cpu.stat で nr_throttled を見て、クォータ (cpu.max、コンテナの CPU 制限) を上げるか、計算量を減らしてください。
rule-server-stalls-next = この時刻を、サーバーのガベージコレクション、チェックポイント、定期処理のログと比べてください。ヒープの拡大、並行コレクター、小さなチェックポイントで短くなります。
rule-uneven-service-users-says = { $users } 本中 { $slow } 本の接続が遅く、応答に { $long } かかります (ほかは { $usual })。それらを受け持つワーカー、スレッド、またはバックエンドの 1 つが遅くなっています。
rule-uneven-service-users-next = これらの接続を受け持つワーカーまたはバックエンドを突き止め、その CPU、ロック、ディスクをほかと比べてください。
rule-uneven-service-requests-says = リクエストの { $share } は { $long }、ほかは { $usual } かかり、その間はほとんどありません。一部のリクエストが通るサーバーの一部分が遅くなっています。全応答時間の { $time } を占めます。
rule-uneven-service-requests-next = これらのリクエストだけが通るものを調べてください: 複数あるうちの 1 つのバックエンドやワーカー、キャッシュミス、長く保持されるロック、別のデータベース。
rule-turned-away-limit-says = 応答の { $share } は { $code } です。サーバーがレートを制限し、処理するのは毎秒 { $served } 件です。
rule-turned-away-limit-next = 毎秒 { $served } 件以下を要求するか、サーバーまたは手前のゲートウェイのレート制限を引き上げてください。
rule-turned-away-says = 応答の { $share } は { $code } で、1 件 { $quick } です。サーバーは限界に達してリクエストを断っています。処理するのは毎秒 { $served } 件、1 件 { $long } です。毎秒 { $rate } 件の応答は速さではありません。
rule-turned-away-untimed-says = 応答の { $share } は { $code } です。サーバーは限界に達してリクエストを断っています。処理するのは毎秒 { $served } 件です。毎秒 { $rate } 件の応答は速さではありません。
rule-turned-away-all-says = 毎秒 { $rate } 件の応答はすべてエラーで、{ $share } は { $code } です。サーバーは何も処理していません。
rule-turned-away-next = サーバーが断る理由を調べてください: 満杯のキューやプール、停止したバックエンド、サーキットブレーカー。処理できるのは毎秒 { $served } 件です。
rule-redirected-says = 応答の { $share } はリダイレクトで、この負荷はそれをたどりません。数値はリダイレクト自体のものです。
rule-redirected-next = リダイレクト先のアドレスを指定してください (`curl -sI` で分かります)。http ではなく https、または別のホスト名であることがよくあります。
rule-error-answers-says = 応答の { $share } はエラーで、多くはステータス { $code } です: { $why }。サーバーが処理しているのは残りの毎秒 { $served } 件です。
rule-error-answers-all-says = 応答はすべてエラーで、多くはステータス { $code } です: { $why }。サーバーは何も処理していません。
error-answers-request = サーバーはリクエストを不正とみなしています
error-answers-credentials = サーバーが認証を求めているか、許可していません
error-answers-path = このパスには何もありません
error-answers-application = アプリケーションが失敗しました
error-answers-backend = ゲートウェイが背後のサーバーに到達できないか、有効な応答を得られません
error-answers-slow = ゲートウェイが背後のサーバーを待ちきれませんでした
error-answers-refused = サーバーがリクエストを断っています
error-answers-server = サーバーが失敗しました
rule-error-answers-request-next = 足りないもの (メソッド、ヘッダー、本文) を調べてください。サーバーのログで分かります。
rule-error-answers-credentials-next = 認証情報をヘッダーまたは Cookie で渡すか、認証なしで許可されるものを要求してください。
rule-error-answers-path-next = パスと、サーバーに渡しているホスト名を確認してください。
rule-error-answers-application-next = 失敗の内容はアプリケーションのログで分かります。これらの応答はアプリケーションの速さを示しません。
rule-error-answers-backend-next = ゲートウェイの背後のサーバーが動いているか、どこで待ち受けているか、すべての接続を受け付けるかを調べてください。
rule-error-answers-slow-next = ゲートウェイの背後のサーバーを単独で測ってください。これらの応答にかかった時間がゲートウェイのタイムアウトです。
rule-error-answers-refused-next = これらのリクエストを断る理由はサーバーのログで分かります。
rule-error-answers-server-next = 失敗の内容はサーバーのログで分かります。これらの応答はサーバーの速さを示しません。
rule-unserved-connections-says = { $to } への接続 { $unserved } 本はシステムに受け付けられましたが、処理されませんでした (ほかの { $served } 本は処理されました)。プログラムが accept していません。
rule-unserved-connections-all-says = { $to } への接続 { $unserved } 本はシステムに受け付けられましたが、どれにも応答が届きませんでした。プログラムが止まっているか accept していないか、応答が途中で失われています。
rule-unserved-connections-files-says = { $to } への接続 { $unserved } 本はシステムに受け付けられましたが、処理されませんでした。プログラムの開いているファイルが上限に達し、これ以上 accept できません。
rule-unserved-connections-files-next = サーバーの開けるファイル数の上限 (LimitNOFILE、ulimit -n) を上げ、不要なものを閉じているか確認してください。
rule-unserved-connections-next = サーバーで、開いているファイルと上限 (/proc/PID/limits)、スレッド数と最大数を比べ、待ち受けソケットの Recv-Q (`ss -ltn`) を見てください。
rule-unserved-connections-all-next = サーバーで、開いているファイルと上限 (/proc/PID/limits)、スレッド数と最大数を比べ、待ち受けソケットの Recv-Q (`ss -ltn`) を見てください。サーバー上では応答している場合、帰りの経路で大きなパケットが失われているかもしれません。サーバーから `ping -M do -s 1400` で確かめられます。
rule-server-cpu-thread-says = サーバーの 1 スレッドの CPU 時間が尽きています。1 コアの { $thread } を使っています{ $work }。
rule-server-cpu-thread-next = サーバーのスレッドやプロセスを増やすか、1 件あたりの処理を減らしてください。そのスレッドのプロファイル (`perf top -t`) で時間の使い道が分かります。
rule-server-cpu-cores-says = サーバーは { $cores } コア分を使っていますが、使えるのは { $allowed } コアまでです。CPU 時間が上限です{ $work }。
rule-server-cpu-cores-next = サーバーが使えるコアを増やすか (`taskset`、コンテナーの CPU セット)、1 件あたりの処理を減らしてください。
rule-server-cpu-single-says = サーバーは一度に 1 コアしか使えません。全スレッド合わせて { $cores } コア分を使い、{ $under } 件のリクエストが順番を待っています{ $work }。
rule-server-cpu-single-next = スレッドが 1 コアを交代で使う場合 (単一スレッド、イベントループ、グローバルインタープリターロック) はサーバーのプロセスを増やすか、1 件あたりの処理を減らしてください。
rule-server-cpu-machine-says = サーバーが { $host } のコアを { $cores } 個分使い、余りがありません。CPU 時間が上限です{ $work }。
rule-server-cpu-machine-next = { $host } 以外のマシンから負荷をかけてください。生成側がサーバーの CPU 時間を奪います。そのうえでサーバーのコアを増やすか、1 件あたりの処理を減らしてください。
rule-server-cpu-quota-says = コントロールグループの CPU クォータが、全時間の { $throttled } の間サーバーを止めています。使っているのは { $cores } コア分です。
rule-server-cpu-quota-next = クォータ (コントロールグループの cpu.max、コンテナーの CPU 制限) を上げるか、負荷を下げてください。
server-work-requests = { "" }
server-work-tls = 。リクエストの時間の { $share } は TLS ハンドシェイクです
server-work-connections = 。リクエストの時間の { $share } は接続のやり直しです
rule-replication-stage-read-says = { $host } の送信スレッドは時間の { $share } をファイルの読み取りに使っています。元が { $bytes } より多くを渡せません。
rule-replication-stage-read-next = { $host } のディスクを見てください (monitor `disk`: 使用率、待ち)。接続を増やす (--connections) と複数のファイルを同時に読みます。
rule-replication-stage-make-says = { $host } の送信スレッドは時間の { $share } をデータセットの生成に使っています。複製ではなく生成が上限です。
rule-replication-stage-make-next = 接続を増やす (--connections) か、実際の木を元にしてください。
rule-replication-stage-pack-says = { $host } の送信スレッドは時間の { $share } を圧縮に使っています (比 { $ratio })。圧縮が経路より遅くなっています。
rule-replication-stage-pack-next = レベルを下げる (--level 1 または none) か、接続を増やして (--connections) スレッドで分担してください。
rule-replication-stage-dense-says = { $host } の送信スレッドは時間の { $share } を、圧縮できない内容の圧縮に使っています (比 { $ratio })。
rule-replication-stage-dense-next = 圧縮をやめてください: --level none、またはそのような内容を見分ける auto。
rule-replication-stage-walk-says = { $host } の送信スレッドは時間の { $share } のあいだ送るものがありません。両方の木をたどって比べる時間が複製より長くなっています。
rule-replication-stage-walk-next = 違うファイルが少ないか、ディレクトリーの読み取りが遅いかです。両端のディスクを見てください。--checksum では比べるためにすべてのファイルを読みます。
rule-replication-stage-write-says = { $host } の受信スレッドは時間の { $share } をファイルの書き込みに使っています。ディスクが { $bytes } より多くを受け取れません。
rule-replication-stage-write-next = { $host } のディスクを見て (monitor `disk`: 使用率、待ち)、メモリー上の宛先や `null` と比べてください。
rule-replication-stage-create-says = { $host } の受信スレッドは時間の { $share } を小さなファイルの作成と改名に使っています ({ $files })。経路ではなくファイルシステムが上限です。
rule-replication-stage-create-next = 接続を増やす (--connections) と複数のファイルを同時に作ります。小さなファイルに速いファイルシステムが最も効きます。
rule-replication-stage-sync-says = { $host } の受信スレッドは時間の { $share } をファイルに使い、その大半は永続化です。同期のたびにデバイスを待っています。
rule-replication-stage-sync-part-says = { $host } の受信スレッドは時間の { $share } をファイルに使っています ({ $files })。全体の { $syncs } は永続化、残りは作成、書き込み、改名です。
rule-replication-stage-sync-next = 多数のファイルをまとめて同期する (--durability batch) か、元から複製し直せるならシステムに任せてください (--durability none)。
rule-replication-stage-unpack-says = { $host } の受信スレッドは時間の { $share } を展開と検証に使っています。CPU が { $bytes } より多くを処理できません。
rule-replication-stage-unpack-next = レベルを下げる (--level 1 または none) か、接続を増やして (--connections) スレッドで分担してください。
rule-request-stage-distance-says = リクエストの待ち時間 { $mean } のうち往復時間が { $lowest } を占めます。サーバーまでの距離が、この接続数でのレートを決めています。
rule-request-stage-distance-next = 接続を増やせばレートは上がります。1 件あたりの往復を減らす (接続の維持、HTTP/2) と応答が早くなります。
rule-request-stage-way-says = 最初のバイトまで { $mean } 待ち、接続の往復時間も同程度です (最短 { $lowest })。経路上のキューが遅らせています。
rule-request-stage-way-next = 経路の最も狭いリンクと、そのキューを埋めているものを突き止めてください。ホスト間の `sokudo stream` と `sokudo probe` で測れます。
rule-request-stage-part-says = リクエストがサーバー内で順番を待っています。最短 { $shortest }、平均 { $mean } で、{ $under } 件が処理中ですが同時に処理されるのは { $worked } 件と 1 件に満たず、サーバーが何も応答しない時間があります。CPU 時間の制限、同じコアを使う他のプログラム、一時停止、または一部のリクエストによる長い占有が原因です。
rule-request-stage-part-next = サーバーのコントロールグループの CPU クォータ（`cpu.stat` の nr_throttled）、同じコアの他のプログラム、一時停止（ガベージコレクション）を調べてください。サーバーのホストではモニター `process:port=…` で観測できます。
rule-request-stage-paced-says = サーバーは一定の間隔で応答しています。最短 { $shortest }、平均 { $mean } で、{ $under } 件が処理中ですが、同時に処理されるのは 1 件に満ちません。Web サーバーやゲートウェイのようなレート制限がリクエストを遅らせています。
rule-request-stage-paced-next = その制限を引き上げるか、通過する量より多くを要求しないでください。接続を増やしても待ち時間が延びるだけで、処理量は増えません。
rule-request-stage-queue-says = リクエストがサーバー内で順番を待っています。最短 { $shortest }、平均 { $mean } で、ほぼすべてが同じくらい待ちます ({ $under } 件が処理中)。1 件ごとの処理時間が変動するため、同時に処理される数はここからは分かりません。
rule-request-stage-queue-next = サーバープロセスの CPU を見てください (そのホストでモニター `process:port=…`)。1 コアまたは全コアの近くなら処理そのもの、そうでなければロック、プール、またはその背後のサービスです。
rule-request-stage-serial-says = リクエストがサーバー内で順番を待っています。最短 { $shortest }、平均 { $mean } で、{ $under } 件が処理中ですが同時に処理されるのは約 { $worked } 件です。ロック、単一のワーカー、1 コアの飽和、またはレート制限により 1 件ずつ処理されています。
rule-request-stage-serial-next = サーバープロセスの CPU を見てください。1 コア近くなら処理そのもの (モニター `process:port=…` で観測できます)、そうでなければロック、単一のワーカー、またはレート制限です。
rule-request-stage-serial-idle-says = リクエストがサーバー内で順番を待っています。最短 { $shortest }、平均 { $mean } で、{ $under } 件が処理中ですが同時に処理されるのは約 { $worked } 件です。CPU 時間は余っています。ロック、単一のワーカー、またはレート制限により 1 件ずつ処理されています。
rule-request-stage-serial-idle-next = そのロック、唯一のワーカー、または制限を突き止めてください。待っている場所は負荷中のスレッドスタックで、レートの制限は設定で分かります。
rule-request-stage-pool-says = リクエストがサーバー内で順番を待っています。最短 { $shortest }、平均 { $mean } で、{ $under } 件が処理中であり、少なくとも { $worked } 件が同時に処理されています。スレッドや接続のプール、または CPU が上限です。
rule-request-stage-pool-next = サーバープロセスの CPU を見てください (monitor `process:port=…`)。余っていれば、スレッドまたは接続プールを増やしてください。
rule-request-stage-pool-idle-says = リクエストがサーバー内で順番を待っています。最短 { $shortest }、平均 { $mean } で、{ $under } 件が処理中であり、少なくとも { $worked } 件が同時に処理されています。CPU 時間は余っています。スレッドまたは接続のプールが上限です。
rule-request-stage-pool-idle-next = 満杯のプールを増やしてください: ワーカースレッド、データベースや別サービスへの接続。
request-stage-best = 、最短 { $shortest }
request-stage-best-unknown = { "" }
rule-request-stage-taken-says = リクエストの時間の { $share } (平均 { $mean }) が応答の最初のバイトまでに過ぎ、送るものがあった時間の { $window } でサーバーの受信ウィンドウがいっぱいでした。サーバーはリクエストの本文を遅くしか受け取っていません。
rule-request-stage-taken-next = サーバーが本文を受け取りながら何をしているかを調べてください。経路が長ければ受信バッファー (net.ipv4.tcp_rmem) も確認してください。レート × 往復時間の余裕が必要です。
rule-request-stage-buffer-says = リクエストの時間の { $share } (平均 { $mean }) が応答の最初のバイトまでに過ぎ、送るものがあった時間の { $buffer } でこのホストの送信バッファーが経路に対して小さすぎました。本文はサーバーが受領を確認するまでそこに残ります。
rule-request-stage-buffer-next = このホストの net.ipv4.tcp_wmem の 3 番目の値を、必要な毎秒バイト数 × 往復時間まで大きくしてください。
evidence-path-window = { $host }: 送るものがあった時間の { $value } でサーバーの受信ウィンドウがいっぱいだった
evidence-path-buffer = { $host }: 送るものがあった時間の { $value } で自分の送信バッファーが小さすぎた
rule-request-stage-wait-says = リクエストの時間の { $share } は、最後のバイトから応答の最初のバイトまでで、サーバーで平均 { $mean }{ $best } かかります。閉ループでは、この時間と接続数がレートを決めます。サーバー内で互いに待っているかどうかは、接続を増やすと分かります。
rule-request-stage-wait-next = 負荷をかけながらサーバーを調べてください (そのホストでモニター `process:port=…`)。CPU に余裕があれば、ディスク、他のサービス、タイマーなどを待っています。同時数を 2 倍にしてレートも 2 倍になれば 1 件の処理自体にこの時間がかかり、変わらなければリクエストが互いを待っています。
rule-request-stage-either-says = リクエストの時間の { $share } は、最後のバイトから応答の最初のバイトまでです: 平均 { $mean }{ $best }。接続の往復時間も同じように変動しており (平均 { $trip }、最短 { $lowest })、サーバーと経路のどちらなのか、ここからは分かりません。
rule-request-stage-either-next = 経路にかかる時間はホスト間の `sokudo probe` で、サーバーが働いているかどうかは、そのホストのモニター `process:port=…` で分かります。
rule-request-stage-read-says = リクエストの時間の { $share } は応答の最初と最後のバイトの間です。{ $bytes } に { $mean } かかります。サーバーが本文を遅く送っているか、経路が狭いかセグメントを失っているか、小さなウィンドウ (このホストの受信バッファーまたはサーバーの送信バッファー) のために往復ごとにわずかしか運べていません。
rule-request-stage-read-next = サーバー自身で同じ本文を取得してください。そこでも遅ければ、サーバーの生成が遅くなっています。
rule-request-stage-read-server-says = サーバーが応答の本文を遅く送っています。最初のバイトは早く、最後のバイトは { $mean } 後です ({ $bytes }、往復時間 { $lowest } の何倍も)。リクエストの時間の { $share } です。
rule-request-stage-read-server-next = サーバーが本文をどう作るかを調べてください。少しずつ間を置いて書く、遅い元データから読む、または帯域を絞っています。
rule-request-stage-read-way-says = リクエストの時間の { $share } は応答の最初と最後のバイトの間です ({ $bytes } に { $mean })。経路上のキューで往復時間が { $lowest } よりずっと長くなっています。戻りの経路が狭くなっています。
rule-request-stage-read-way-next = サーバーのホストから `sokudo stream` で経路を測るか、応答を小さく、または圧縮してください。
rule-request-stage-read-start-says = リクエストの時間の { $share } は応答の最初と最後のバイトの間です。{ $bytes } に { $mean }、往復時間 { $lowest } の数回分で、速度を探り始める接続にかかる時間です。
rule-request-stage-read-start-next = リクエスト間で接続を維持し、サーバーでウィンドウを保ってください (net.ipv4.tcp_slow_start_after_idle=0)。
rule-request-stage-read-delayed-says = 各応答の残りは最初のバイトから { $mean } 後、遅延 ACK の長さで届きます。サーバーが応答を小さく分けて書き、Nagle アルゴリズムが後の部分を止めています。
rule-request-stage-read-delayed-next = サーバーがヘッダーと本文を一度に書くようにするか、接続に TCP_NODELAY を設定してください。
rule-request-stage-connect-says = リクエストの時間の { $share } は接続です (平均 { $mean })。サーバーが受け付ける前に待つか、捨てられています。
rule-request-stage-connect-next = サーバーの待ち受けソケットのキュー (`ss -ltn` の Recv-Q) と ListenOverflows、続いて経路の損失を調べてください。
rule-request-stage-tls-says = リクエストの時間の { $share } は TLS ハンドシェイクです (平均 { $mean })。接続ごとに鍵を作り直しており、サーバーの CPU が行っています。
rule-request-stage-tls-next = 接続を維持し、セッション再開を許すか、RSA よりサーバーの負担が小さい ECDSA 鍵を使ってください。
rule-request-stage-resolve-says = リクエストの時間の { $share } はサーバー名の検索です (平均 { $mean })。ネームサーバーが遅くなっています。
rule-request-stage-resolve-next = `sokudo dns` でネームサーバーを測り、/etc/resolv.conf の最初のものを確認するか、名前の検索を 1 回にしてください。
rule-request-stage-send-says = リクエストの時間の { $share } は送信です (平均 { $mean })。サーバーの読み取りが遅いか、行きの経路が狭いかセグメントを失っているか、小さなウィンドウ (このホストの送信バッファーまたはサーバーの受信バッファー) のために往復ごとにわずかしか運べていません。
rule-request-stage-send-next = サーバーのホストへ `sokudo stream` で経路を測ってください。もっと運べるなら、サーバーの読み取りが遅くなっています。
rule-request-stage-streams-says = サーバーが HTTP/2 の接続ごとに同時に許すリクエストは { $granted } 件です。ほかのリクエストは送信まで { $mean } 待ち、リクエストの時間の { $share } を占めます。
rule-request-stage-streams-next = 接続を増やすか、サーバーのその数を引き上げてください (nginx では http2_max_concurrent_streams)。
rule-request-path-there-says = サーバーへのセグメントの { $resent } が再送され、リクエストの { $slow } は再送タイムアウトほどかかりました。経路でセグメントが失われています。
rule-request-path-back-says = サーバーからのセグメントの { $disordered } が順序どおりに届かず、リクエストの { $slow } は再送タイムアウトほどかかりました。戻りの経路でセグメントが失われるか、順序が入れ替わっています。
rule-request-path-both-says = サーバーへのセグメントの { $resent } が再送され、サーバーからの { $disordered } が順序どおりに届かず、リクエストの { $slow } は再送タイムアウトほどかかりました。経路の両方向でセグメントが失われています。
rule-request-path-next = ホスト間の `sokudo probe` で、どれだけ、いつ失われるかが分かります。経路上のインターフェースの破棄数を確認してください。
evidence-stalls = { $host }: すべてのリクエストが止まった回数 { $value }
evidence-stall-longest = { $host }: そのうち最長は { $value }
evidence-stalled-requests = { $host }: 停止が終わった時点で処理中のリクエストは { $value } 件
evidence-process-stopped = { $host }: サーバーのプロセスは全時間の { $value } の間停止状態
evidence-slow-users = { $host }: 遅い接続は { $value } 本
evidence-usual-user = { $host }: 中央の接続の応答は { $value }
evidence-slow-part = { $host }: リクエストの { $share } は平均 { $value } で、ほかから離れている
evidence-turned-away = { $host }: ステータス { $code } の応答は { $value } 件
evidence-even-gaps = { $host }: 応答の間隔の { $value } は平均と同じくらいの長さ
evidence-close-gaps = { $host }: 応答の間隔の { $value } は最短の待ち時間の半分より短い
evidence-long-gaps = { $host }: 時間の { $value } が応答の間の長い間隔に含まれる
evidence-mean-bad = { $host }: ステータス 400 以上の応答は平均 { $value }
evidence-mean-good = { $host }: それ以外の応答は平均 { $value }
evidence-unserved = { $host }: 接続できたのに最初のリクエストに応答がなかった接続は { $value } 本
evidence-failed-connect = { $host }: 接続中に失敗したリクエストは { $value } 件
evidence-replication-reading = { $host }: 送信スレッドの時間のうちファイルの読み取り: { $value }
evidence-replication-packing = { $host }: 送信スレッドの時間のうち圧縮: { $value }
evidence-replication-idle = { $host }: 送信スレッドの時間のうち送るものがない時間: { $value }
evidence-replication-writing = { $host }: 受信スレッドの時間のうちファイルの作成、書き込み、改名、同期: { $value }
evidence-replication-syncing = { $host }: 受信スレッドの時間のうち同期: { $value }
evidence-replication-unpacking = { $host }: 受信スレッドの時間のうち展開と検証: { $value }
evidence-open-files-full = { $host }: サーバーのプロセスの開いているファイルは { $value } 個 (上限 { $limit })
evidence-accept-queue = { $host }: ポート { $port } で accept を待つ接続は平均 { $value } 本
evidence-server-sessions-cpu = { $host }: データベースのセッションは { $value } コア分を使用
evidence-server-process-cpu = { $host }: サーバーのポートを持つプロセスとその子プロセスは { $value } コア分を使用
evidence-process-throttled = { $host }: クォータがサーバーを止めた時間の割合は { $value }
evidence-process-cores = サーバーが使えるのは { $value } コアです (アフィニティ)
evidence-process-thread = { $host }: サーバーの最も忙しいスレッドは 1 コアの { $value } を使用
evidence-machine-full = { $host }: { $cores } コアの { $value } が使用中。サーバーが { $server } コア分、sokudo が { $own } コア分
evidence-shortest = { $host }: 応答の最短の待ちは { $value }
evidence-held = { $host }: サーバーがストリームを許すまで { $value } 件のリクエストが待った
evidence-path-lowest = { $host }: 接続の最小の往復時間 { $value }
evidence-path-mean = { $host }: 接続の平均の往復時間 { $value } (遅延 ACK を含む)
evidence-path-resent = { $host }: 接続のセグメントの { $value } を再送
evidence-path-disordered = { $host }: 届いたセグメントの { $value } は順序どおりでない
evidence-host-resent = { $host }: ホストが再送したセグメントは { $value } 個
evidence-slow-by-timeout = { $host }: リクエストの { $value } は再送タイムアウトほどかかった
evidence-stage-resolve = { $host }: 名前の検索は 1 件平均 { $value }、全体の { $share }
evidence-stage-connect = { $host }: 接続は 1 件平均 { $value }、全体の { $share }
evidence-stage-tls = { $host }: TLS ハンドシェイクは 1 件平均 { $value }、全体の { $share }
evidence-stage-send = { $host }: リクエストの送信は 1 件平均 { $value }、全体の { $share }
evidence-stage-wait = { $host }: 最初のバイトまでの待ちは 1 件平均 { $value }、全体の { $share }
evidence-stage-read = { $host }: 応答の読み取りは 1 件平均 { $value }、全体の { $share }
rule-slow-label-says = 「{ $label }」の平均は { $mean }、ほかは { $usual } です。全応答時間の { $share } を占めます。
rule-slow-label-next = ほかを調整する前に「{ $label }」だけを調べてください。
rule-hidden-stall-says = 「{ $label }」は 99 パーセンタイルが { $p99 } なのに { $stall } 止まりました。ユーザーは待っている間何も送っていません。同じ平均の率で来る呼び出しなら { $late } 件が、平均 { $wait } 遅れていました。
rule-hidden-stall-next = 一定の率の到着 `--model open:RATE` で繰り返してください。来るはずだったすべてがパーセンタイルに入ります。
rule-hidden-stall-rate-next = レートを指定して（--rate）繰り返してください。来るはずだったすべてのリクエストがパーセンタイルに入ります。
evidence-failed-requests = { $host } でこのように失敗したリクエスト: { $value }
evidence-error-ratio = { $host }: リクエストの { $value } が失敗またはエラー応答
evidence-made-connections = { $host } が作った接続: { $value }
evidence-longest-connect = { $host } の最長の接続時間: { $value }
evidence-calls-made-again = その間に { $host } がやり直した接続の呼び出し、全プログラム: { $value }
evidence-queue-of-calls-full = その間に { $host } が接続の待ち行列が満杯のため捨てた呼び出し: { $value }
evidence-mean-service = { $host } での平均応答: { $value }

rule-generator-limited-files-says = { $host } のプロセスは開けるファイルの数の上限に達し、接続を開けませんでした。{ $count } 件のリクエスト (全体の { $share }) が失敗し、その多くがこの理由です。測れたのはサーバーではなく、その上限です。
rule-generator-limited-files-next = { $host } の上限 (`ulimit -n`、systemd ユニットの LimitNOFILE) を上げるか、接続数を減らしてください。
rule-generator-limited-ports-says = { $host } では { $count } 件の接続に使うローカルポートが残っていませんでした (全リクエストの { $share })。測れたのはサーバーではなく、このホストのポートの数です。
rule-generator-limited-ports-next = 実際の利用者が接続を保つなら Keep-Alive を使ってください。そうでなければ、{ $host } の net.ipv4.ip_local_port_range を広げるか、net.ipv4.tcp_tw_reuse を 1 にするか、複数のホストから負荷をかけてください。
rule-generator-limited-ports-each-next = { $host } の net.ipv4.ip_local_port_range を広げるか、net.ipv4.tcp_tw_reuse を 1 にするか、複数のホストから要求してください。`sokudo rr` は接続を保ちます。
evidence-ports-exhausted = { $host }: ローカルポートがなく作れなかった接続 { $value } 件
evidence-time-wait = { $host }: 終了した接続のうち、まだポートを占めているもの 最大 { $value } 件
evidence-local-ports = { $host }: 外向きの接続に使えるポート { $value } 個
check-generator-held =
    { $phase }: 負荷生成側は予定どおりに送りました。遅れて{ $what ->
        [transactions] 始まったトランザクション
       *[other] 出たリクエスト
    }は { $late } で、許容値 { $bound } 以内です。
check-generator-failed =
    { $phase }: 負荷生成側が予定どおりに送れませんでした。{ $what ->
        [transactions] トランザクションの { $late } が遅れて始まっています
       *[other] リクエストの { $late } が遅れて出ています
    }。数値がサーバーを表すとみなせるのは { $bound } までです。
check-generator-unstarted = { $phase }: 到着の { $share } を始められませんでした。同時に許されるユーザー数（--max-inflight）に達していたためで、数値はより低いレートのものです。
check-generator-unstarted-connections = { $phase }: リクエストの { $share } を始められませんでした。予定の時刻にすべての接続（--connections）が使用中だったためで、数値はより低いレートのものです。
check-generator-unstarted-clients = { $phase }: トランザクションの { $share } を始められませんでした。予定の時刻にすべてのセッション（--clients）が使用中だったためで、数値はより低いレートのものです。
check-generator-ports = { $phase }: { $host } ではリクエストの { $share } に使うローカルポートが残っていませんでした。数値は負荷生成側のものです。
rule-error-burst-says = 失敗した { $count } 件のリクエストのうち { $share } が、開始 { $begin } 後からの { $length } に集中しています。そのときに何かが起き、それ以外の時間はほとんど失敗していません。
rule-error-burst-next = 開始 { $begin } 後にサーバーで何が起きたかを調べてください。再起動、配備、満杯になったプールやディスク、経路の切断などです。時系列のグラフで、同じ瞬間に動いたものが分かります。
evidence-failed-peak = { $host } では最大 { $value } のリクエストが失敗
evidence-failed-outside = { $host } では、それ以外の時間は平均 { $value } の失敗

## 診断結果の意味、判定の条件、対処
# 数値はルールの境界値

finding-application_limited-means = 一方の端のプログラムが、自分から負荷を抑えていました。指定したレートが守られたか、ユーザーが指定どおり休止していたか、読み手が届いたデータを読まなかったか、書き手が空きがあるのに休んでいました。
finding-application_limited-signs = 指定したレートの { $kept } 以上が届いた。または、ユーザーが時間の { $pausing } 以上を負荷の休止で過ごした。または、確認応答の速度がペーシングの { $paced } に達した。または、スレッドが時間の { $shapes } 以上を休み、相手を待った時間が { $never } 以下で、使用 CPU が 1 コアの { $busy } 未満だった。
finding-application_limited-try = 指定するレートを上げるか、外してください。ユーザー数を増やすか、休止を短くする方法もあります。そうでなければ、休んでいるプログラムが呼び出しの合間に何をしているかを調べてください。

finding-buffer_below_asked-means = システムが、要求より小さいソケットバッファーをエラーなしで割り当てました。
finding-buffer_below_asked-signs = `getsockopt` の値が要求の { $enough } 未満である。その端でデータグラムが失われた場合は重大度が上がる。
finding-buffer_below_asked-try = sysctl で net.core.rmem_max（受信）または net.core.wmem_max（送信）を大きくしてください。

finding-connection_churn-means = ほぼすべてのリクエストが新しい接続を使い、リクエストと同じだけ接続の負荷になっています。接続の確立に時間がかかれば、それがレートを制限します。
finding-connection_churn-signs = { $few } 件以上、保てる接続 1 本あたり { $each } 件以上のリクエストがあるフェーズで、新しい接続がリクエストの { $churn } 以上である。接続と TLS ハンドシェイクがリクエストの時間の { $costs } 以上を占めるか、リクエスト側スレッドが時間の { $busy } 以上で動作中または CPU 待ちであるか、リクエストが 1 件 { $short } 以下で負荷全体では { $cheap } ごと以下なら、レートを制限している。ただし、指定したレートが保たれた場合、ユーザーの休止がレートを決める場合、捨てられた呼び出しが接続を長くしている場合を除く。
finding-connection_churn-try = 実際のユーザーが接続を保つなら、サーバーの `Connection: close` を調べ、負荷側で keep-alive を有効にしてください。そうでなければ net.ipv4.ip_local_port_range を広げるか、生成元を増やしてください。

finding-corruption-means = 内容の変わったデータグラムが届き、UDP チェックサムでは検出されませんでした。
finding-corruption-signs = 受信側が、1 個以上のデータグラムでヘッダーまたはデータの誤りを見つけた。
finding-corruption-try = 受信ホストのチェックサムオフロードを無効にして再測定してください。起きなくなれば、ネットワークデバイスかドライバーがデータを変えています。

finding-delayed_ack-means = 小さな書き込みが遅延 ACK を待っていました。Nagle アルゴリズムは前のセグメントの確認応答まで小さなセグメントを保留し、相手はその確認応答を約 40 ms 遅らせます。
finding-delayed_ack-signs = Nagle アルゴリズムが有効である。最小の往復時間が { $rtt } 未満で、応答の { $some } 以上が 36〜54 ms かかり、その前後より多い。または、ストリームに時間の { $busy } 以上で送るデータがあり、ウィンドウが開いているのに送信中のセグメントが少なく、相手が確認応答を { $delayed } 以上遅らせている。
finding-delayed_ack-try = Nagle アルゴリズムを無効にするか（TCP_NODELAY、--nagle を外す）、メッセージ全体を 1 回の書き込みで渡してください。
finding-device_queue-means = ホスト自身のデバイスの待ち行列が、ホストから出る量を制限するか、破棄しています。接続からは往復時間の増加や損失に見え、経路が原因のように見えます。データグラムは、受信側に痕跡を残さずに失われます。デバイスの入口の制御は、受信済みのパケットを破棄します。
finding-device_queue-signs = デバイスの qdisc が、フェーズ中に { $often } 回以上パケットを留めるか破棄し、さらに、サンプルの { $stands } 以上でパケットが待っていたか、破棄された。
finding-device_queue-try = そのホストで `tc -s qdisc` を確認し、待ち行列のレートと上限を上げるか取り除いてください。または、そのレートより少なく送ってください。

finding-dropped_calls-means = 接続の要求が捨てられ、呼び出し側のホストがやり直しました。多くの場合、サーバーがまだ受け付けていない接続の待ち行列が満杯です。
finding-dropped_calls-signs = 最長の接続時間が SYN をやり直す時間（約 1、2、3、4、5、7、11、15 秒）で、中央値（中央値自体がやり直しの時間なら最短）の { $times } 倍を超えている。呼び出し側の SYN 再送と、測定対象ホストの待ち行列あふれが裏付けになる。
finding-dropped_calls-try = サーバーの backlog と net.core.somaxconn を上げるか、接続をより速く受け付けてください。ListenOverflows が増えていなければ、経路のパケット損失を調べてください。

finding-duplicates-means = データグラムが重複して届きました。ソケットは重複を起こしません。ブリッジのループ、ミラーポート、ボンディングが原因になります。
finding-duplicates-signs = 受信側が、同じ連番を 1 個以上重複して数えた。送信数の { $many } を超えると重大度が上がる。
finding-duplicates-try = 受信ホストの手前に、ブリッジのループ、ミラーポート、ブロードキャストモードのボンディングがないか確認してください。

finding-error_burst-means = 失敗したリクエストの大部分が、フェーズの短い期間に集中しています。一定の失敗率ではなく、再起動、枯渇したプール、経路の切断などが考えられます。
finding-error_burst-signs = 失敗が全部で { $few } 件以上あり、その { $most } 以上がフェーズの長さの { $short } 以内に収まっている。
finding-error_burst-try = その時刻にサーバーで起きたことを調べてください。再起動、配備、プールの枯渇、ディスクの満杯、経路の切断などです。

finding-generator_limited-means = 負荷を作る側が限界でした。指定した負荷を出せなかったか、遅れて出したか、CPU 時間またはローカルポートが足りませんでした。数値は測定対象ではなく、負荷生成側を表しています。
finding-generator_limited-signs = 指定したデータグラムの { $short } を超える分が送られなかったか、データグラムまたはリクエストの { $late } を超える分が 1 ms 以上遅れて出た。レートの指定がない場合は、送信スレッドが 1 コアの { $thread } 以上を使い損失が { $lossless } 以下だったか、イベントループが 1 コアの { $loop } 以上を使った。または、閉ループの { $hole } 以上の間、リクエスト側のホストで何も動いていなかった。または、ローカルポートがなく接続できなかった。
finding-generator_limited-try = ストリーム、スレッド、負荷を作るホストを増やすか、データグラムを大きくするか、レートを下げてください。ポートが足りない場合は、keep-alive を有効にするか net.ipv4.ip_local_port_range を広げてください。

finding-hidden_stall-means = サーバーが一時停止しましたが、パーセンタイルには現れていません。閉ループでは停止中にユーザーが何も送らないため、遅れるのはユーザーごとに 1 件だけです（coordinated omission）。
finding-hidden_stall-signs = レートの指定がなく、最も長い応答が { $shortest } 以上で、中央値の { $median } 倍と 99 パーセンタイルの { $p99 } 倍を超えている。
finding-hidden_stall-try = 一定のレートの到着（--model open:RATE）で繰り返してください。停止中に来るはずだったリクエストもパーセンタイルに入ります。

finding-host_busy-means = ホストの CPU が不足していたため、余裕のあるホストより低い数値になっています。ネットワーク名前空間とループバックアドレスは、1 台のマシンのコアを共有します。
finding-host_busy-signs = 測定のスレッドが、実行可能なのに CPU を得られない時間が { $waiting } 以上あったか、ハイパーバイザーが CPU 時間の { $stolen } 以上を奪った。スレッドの情報がない場合は、CPU を待つタスクのある時間が { $pressed } 以上あった。
finding-host_busy-try = ホストの他の処理を止めるか、1 台のマシンのスレッドやホストを減らすか、専有コアを使って、再測定してください。

finding-hot_link-means = 遅いまたは失敗したフローや組のすべてに、共通のホストが 1 台あります。そのリンクか、手前のスイッチのポートが原因と考えられます（同時にそこへ送る場合はインキャスト）。
finding-hot_link-signs = 中央値の { $slow } 未満のフローが 2 本以上あるか、失敗した組が 2 つ以上あり、そのすべての端にあるホストがちょうど 1 台である。
finding-hot_link-try = そのホストのリンクを調べてください。ポートの速度とデュプレックス、インターフェースのエラー、ケーブル、ほかの通信です。

finding-loss_limited-means = パケット損失が TCP 接続を制限しました。損失のたびに送信側は輻輳ウィンドウを縮めるか、セグメントの再送まで応答が遅れます。
finding-loss_limited-signs = 時間の { $shapes } 以上で輻輳ウィンドウがレートを制限し、セグメントの { $some } 以上が再送され、往復時間に待ち行列が見られない。すべて前半に起きた損失は、TCP がレートを見つけるまでのものなので数えない。{ $many } 以上では、失われたものを保持して満杯になった送信バッファーの時間も数える。または、再送のあった接続で最も遅い応答が { $timeout } 以上かかったか、接続の呼び出しを超えてホストがセグメントを再送した。
finding-loss_limited-try = `sokudo datagram` で損失の場所を調べるか、損失を混雑とみなさない輻輳制御（--cc bbr）と比較してください。

finding-lost_queries-means = ネームサーバーへの問い合わせ、または UDP のリクエストに応答がない。UDP では、サーバーのホストが待ち受けのないことを知らせた場合と、自分のソケットがあふれた場合にだけ、問い合わせ側から理由がわかる。
finding-lost_queries-signs = 応答のない問い合わせ、または UDP のリクエストが { $some } 以上。{ $grave } 以上なら、数値は損失の影響を受けている。負荷生成側のソケットあふれがその { $most } 以上あれば、それを理由とする。
finding-lost_queries-try = サーバーが待ち受けているか、UDP ソケットがあふれていないか (RcvbufErrors)、レート制限がないかを調べ、--transport tcp と比べる。

finding-low_mtu-means = 経路 MTU がイーサネットより小さいか、データグラムが経路 MTU より大きく、フラグメントに分かれています。フラグメントを 1 つ失うと、データグラム全体が失われます。
finding-low_mtu-signs = 経路 MTU がイーサネットの 1500 バイト未満であるか、ヘッダーを含むデータグラムが経路 MTU に収まらない。
finding-low_mtu-try = データグラムを小さくするか（--size）、経路上の MTU の小さいインターフェースを調べてください。トンネルや VPN は MTU を小さくします。

finding-name_server_errors-means = ネームサーバーがエラーコードで応答した。答えを見つけられない (SERVFAIL)、このホストやこの名前には答えない (REFUSED)、または問い合わせを読めない。
finding-name_server_errors-signs = 最も多いエラーコードの応答が { $some } 以上。{ $grave } 以上なら、数値はエラーの影響を受けている。存在しない名前 (NXDOMAIN) は応答とみなす。
finding-name_server_errors-try = サーバーのログ、アクセス制限、サーバー自身の問い合わせ先を調べる。

finding-neighbour_interference-means = 他のプログラムまたは他の仮想マシンが、測定のスレッドが使うはずの CPU 時間を使っていました。
finding-neighbour_interference-signs = 測定のスレッドが、実行可能なのに CPU を得られない時間が { $waiting } 以上あり、その間に他のプログラムが { $others } コア以上を使ったか、ハイパーバイザーが CPU 時間の { $stolen } 以上を奪った。
finding-neighbour_interference-try = マシンの他の処理を止めるか、測定に専用のコアを割り当てて、再測定してください。

finding-path_limited-means = 接続が経路を使い切っています。最も細いリンクの手前に待ち行列があり、両端がそれを待っています。
finding-path_limited-signs = 両端が待つ間、時間の { $shapes } 以上で輻輳ウィンドウがレートを制限し、往復時間の平均が最小値の { $grown } 倍以上で { $queue } 以上長い。 読み取りの { $stands } 以上でも同じです。長い経路では、到着レートのばらつきが { $even } 以下で、読み取りの { $stands } 以上で未送信のバイトがあれば、{ $far } 倍以上で { $long } 以上長いこと。リクエストと応答の場合は、この往復時間に加え、Nagle アルゴリズムなしで、書き込み済みで未送信のバイトが読み取りの { $stands } 以上で見られる。
finding-path_limited-try = 経路のリンクの速度と、ほかの通信量を比べてください。ストリームやバッファーを増やしても待ち行列が延びるだけです。

finding-path_loss-means = ホストの間でデータグラムが失われました。送信側のカーネルは受け付けており、受信ホストのどのカウンターにも現れていません。
finding-path_loss-signs = 欠落したデータグラムの { $share } 以上に、ほかの場所が割り当てられない。増えたカウンターと読み取れなかったカウンターは結果に示される。
finding-path_loss-try = 経路の機器を調べてください。レートを下げて損失がなくなればキューあふれ、残れば回線の異常が疑われます。

finding-receive_window_limited-means = 受信ウィンドウが帯域遅延積より小さく、受信側がすぐに読んでいるのに送信側が待たされました。
finding-receive_window_limited-signs = 受信プログラムがデータを待つ間、時間の { $shapes } 以上でウィンドウが満杯だった。
finding-receive_window_limited-try = 受信バッファーをシステムの自動調整に任せるか、大きくしてください（--rcvbuf、net.ipv4.tcp_rmem、net.core.rmem_max）。レートと往復時間の積だけ必要です。

finding-receiver_buffer_overflow-means = 受信バッファーが満杯になり、データグラムが破棄されました。受信スレッドが CPU を得られないか、1 コアでは足りず、ソケットを空にするのが間に合いませんでした。
finding-receiver_buffer_overflow-signs = 欠落したデータグラムの { $share } 以上が、受信ソケットで破棄された。 接続のないリクエストでは、一杯のソケットが失敗の { $requests } 以上を説明します。
finding-receiver_buffer_overflow-try = 受信バッファーを大きくするか（--rcvbuf、net.core.rmem_max）、ストリームを増やすか、受信スレッドのためにコアを空けてください。

finding-receiver_cpu_limited-means = 受信側または応答側のスレッドに CPU の余裕がありませんでした。送信側と経路には余裕があります。
finding-receiver_cpu_limited-signs = スレッドが 1 コアの { $whole } 以上を使い、データを待った時間が { $never } 以下で、スピン待ちではない。
finding-receiver_cpu_limited-try = ストリームやスレッドを増やし、複数のコアで分担してください。

finding-receiver_host_drops-means = 受信ホストが、ネットワークデバイスとソケットの間でデータグラムを破棄しました。多くの場合、1 コアのバックログが満杯です。
finding-receiver_host_drops-signs = 欠落したデータグラムの { $share } 以上が、受信ホストの内部で破棄された。
finding-receiver_host_drops-try = net.core.netdev_max_backlog を大きくするか、受信キューをより多くのコアに分散してください。

finding-reordering-means = データグラムが順序どおりに届きませんでした（RFC 4737）。複数の経路、ボンディング、1 つのフローを分担する受信キューがよくある原因です。
finding-reordering-signs = 届いたデータグラムの { $some } を超える分が順序どおりに届かなかった。{ $many } を超えると重大度が上がる。 接続では、再送されたセグメントの { $needless } 以上、{ $few } 個以上を相手がすでに受け取っていたか、カーネルが数えた追い越しが同じ割合を超え、その { $waited } 以下しか再送されなかった。不要な再送が { $shapes } 以上あれば、レートを十分に制限する。
finding-reordering-try = 複数の経路やボンディング、1 つのフローを分担する受信キューがないか確認してください。

finding-request_failures-means = リクエストが失敗し、失敗の種類が原因を示しています。拒否（待ち受けなし）、リセット（同時接続数の上限）、応答前の切断（keep-alive または再起動）、接続のタイムアウト（受け付け待ちの行列が満杯）、応答のタイムアウト（受け付け後に処理されない）、不正な応答（別のサービスまたはプロキシ）。
finding-request_failures-signs = リクエストの { $some } 以上が失敗し、1 つの種類が失敗の { $most } 以上を占める。{ $grave } 以上で重大度が最も高くなる。
finding-request_failures-try = 拒否: 待ち受けを確認する。リセット: 同時接続数の上限を上げる。切断: keep-alive 時間を比べる。接続のタイムアウト: backlog を上げる。応答のタイムアウト: スレッド、プール、ロックを調べる。不正な応答: そのポートで待ち受けているものを調べる。

finding-send_buffer_limited-means = 送信バッファーが帯域遅延積より小さく、接続に余裕があるのにプログラムが空きを待ちました。
finding-send_buffer_limited-signs = 両端が待つ間、時間の { $shapes } 以上で送信バッファーが満杯だった。または、プログラムが時間の { $sent } 以上で空きを待ち、同じ割合の読み取りで未送信のデータがなく、経路に待ち行列もなかった。
finding-send_buffer_limited-try = 送信バッファーをシステムの自動調整に任せるか、大きくしてください（--sndbuf、net.ipv4.tcp_wmem、net.core.wmem_max）。レートと往復時間の積だけ必要です。

finding-sender_cpu_limited-means = 送信側またはリクエスト側のスレッドに CPU の余裕がありませんでした。経路と受信側は、少なくともこの量を処理できます。
finding-sender_cpu_limited-signs = スレッドが 1 コアの { $whole } 以上を使い、空きを待った時間が { $never } 以下で、スピン待ちではない。
finding-sender_cpu_limited-try = ストリームやスレッドを増やすか、1 回の書き込みを大きくしてください。

finding-sender_refusal-means = 送信側のカーネルがデータグラムを受け付けませんでした。デバイスのキュー（ENOBUFS）またはソケットの送信バッファー（EAGAIN）が満杯でした。これらはホストから出ておらず、送信数に含まれません。
finding-sender_refusal-signs = 送信呼び出しが 1 回以上断られた。データグラムの { $many } を超えると重大度が上がる。
finding-sender_refusal-try = 送信バッファーを大きくするか（--sndbuf）、デバイスのキューを長くするか、レートを下げてください。

finding-server_stalls-means = すべてのリクエストが同時に、1 回または繰り返し止まりました。サーバー全体、またはそこまでの経路が停止しています。
finding-server_stalls-signs = 処理中のリクエストがあり、クォータが sokudo を周期の { $stopped } 以上止めてもいないのに、中央値の { $median } 倍以上の間 1 件も終わらず、その合計が全時間の { $shapes } 以上である。これより短い沈黙のほうが多くはなく (長さ { $long } 以上の沈黙が { $few } 回までなら、短い沈黙も { $few } 回まで)、生成側のホストは動いていた。遅いリクエストは、沈黙の平均 ({ $few } 回までなら最長) に中央値の { $queue } 倍（その後ろの待ち行列）を加えた時間の { $longer } 倍より長くはない。間隔のばらつきが { $even } 以下なら周期とみなす。その場合は { $shortest } 以上、そうでなければ { $uneven } 以上続く。周期が { $quota }（誤差 { $about } 以内）で { $periods } 回以上なら、CPU 時間のクォータとみなす。
finding-server_stalls-try = 時刻を、サーバーのガベージコレクション、チェックポイント、定期処理のログと比べてください。

finding-uneven_service-means = リクエストまたは接続の一部が、ほかの何倍もかかっています。複数あるワーカー、バックエンド、キャッシュの 1 つが遅くなっています。
finding-uneven_service-signs = 遅いものは全体の { $minority } 以下である。ユーザーの一部が中央のユーザーの 4 倍以上かつ { $least } 以上長い平均サービス時間を持つ。または、サービス時間が間にほとんど何もない 2 つの部分に分かれ、{ $least } 以上離れ、遅い部分が全応答時間の { $shapes } 以上を占める。セグメントの損失、全リクエストの停止、経路の待ち行列を通る本文、時間の { $starved } 以上 CPU を待った生成側のスレッドは除く。
finding-uneven_service-try = 遅いものだけが通る箇所を突き止めてください: ワーカー、バックエンド、キャッシュミス、ロック。

finding-turned_away-means = サーバーがリクエストを処理せず、429 または 503 で答えています。レート制限、または限界に達したサーバーです。このような応答は速く、速さに見えます。
finding-turned_away-signs = 応答の { $some } 以上がステータス 429 または 503 である。{ $grave } 以上なら数値はその応答についてのものになる。
finding-turned_away-try = 処理される量より負荷を下げるか、制限を上げるか、サーバーが断る理由を調べてください。
finding-redirected-means = サーバーがリダイレクト (ステータス 300〜399) で答えています。この負荷は 1 つのアドレスに要求し、リダイレクトをたどらないため、数値はその先のページについて何も示しません。
finding-redirected-signs = 応答の { $most } 以上がリダイレクトである。指示に従ってたどるテスト計画は対象外。
finding-redirected-try = リダイレクト先のアドレスに負荷をかけてください。
finding-error_answers-means = サーバーがリクエストにエラーで答えています。数値はサービスではなくエラー応答のものです。
finding-error_answers-signs = 応答の { $some } 以上が、429 と 503 を除くステータス 400 以上である。その { $most } 以上を占めるステータスがあれば、それを示す。{ $grave } 以上なら数値はその応答についてのものになる。
finding-error_answers-try = ステータスが示すものを調べてください: リクエスト、認証情報、パス、アプリケーション、またはゲートウェイの背後のサーバー。

finding-unserved_connections-means = 接続はできるのに処理されません。サーバーのシステムは受け付けますが、プログラムが accept していません。
finding-unserved_connections-signs = 接続の最初のリクエストが 0.5 秒を超えて応答のないまま打ち切られた。サーバーのプロセスを観測していて、開いているファイルが上限の { $full } 以上なら、それが理由である。
finding-unserved_connections-try = サーバーの開けるファイル数またはスレッド数の上限を上げるか、何で止まっているかを調べてください。

finding-server_cpu_limited-means = サーバーのポートを持つプロセスに CPU 時間が残っていません。1 スレッド、マシン全体、またはコントロールグループのクォータです。
finding-server_cpu_limited-signs = そのプロセスの最も忙しいスレッドが 1 コアの { $core } 以上を使う。または、マシンより少ないコアしか使えないプロセスが、使えるコアの { $bound } 以上を使う。または、マシンの { $full } 以上が使用中で、その { $most } 以上、かつ sokudo 以外の使用の大半をサーバーが占め、クォータが sokudo を周期の { $stopped } 以上止めてはいない。または、クォータが全時間の { $throttled } 以上サーバーを止める。求めたレートは達成されていない。
finding-server_cpu_limited-try = サーバーのコアまたはクォータを増やすか、1 件あたりの処理を減らしてください。別のマシンから負荷をかけてください。

finding-replication_stage-means = 複製のスレッドの時間の大半が 1 つの段階で過ぎています。木の走査、読み取り、圧縮、展開、作成、書き込み、同期のどれかを示します。
finding-replication_stage-signs = 1 つの段階が、一方の端のデータスレッドの時間の { $most } 以上を占める。宛先のファイルでの時間のうち、同期が { $syncing } 以上なら同期（{ $beside } 以上なら併せて示す）、ファイルが平均 { $small } 以下なら作成と改名、それ以外は書き込みが理由である。{ $poor } 対 1 より縮まない圧縮は無駄とする。
finding-replication_stage-try = 示された段階を改善してください。レベル、永続化、接続数は複製のオプションで、ディスクとファイルシステムはそうではありません。
finding-request_stage-means = リクエストの時間の大半が 1 つの段階で過ぎています。名前、接続、TLS、送信、サーバーの処理とキュー、本文のどれかを示します。
finding-request_stage-signs = 1 つの段階がリクエストの時間の { $most } 以上を占め（送信の段階で、リクエストの { $held } 以上が HTTP/2 のストリームを待っていれば、サーバーが許す数が上限）、リクエスト側スレッドが動作中または実行可能な時間は { $busy } 未満である。ラベルが 1 種類で、平均の待ちが最短の { $queued } 倍以上であり、応答の間隔もそれを示すなら、互いに待っている。間隔の { $paced } が均等で同時の処理が { $part } 件未満ならレート制限、時間の { $paused } が長い間隔に含まれるならサーバーの停止、続けて来る応答が { $several } 未満なら 1 件ずつの処理、90 パーセンタイルが中央値の { $alike } 倍以下ならプールである。往復時間が待ちの { $way } 以上なら、経路が理由である。平均の往復時間が最短の { $grown } 倍以上で、遅延 ACK では説明できない { $delayed } を超えて長ければ（サンプルの少ない接続では、平滑化で隠れる分を加える）、経路にキューがある。それ以下でも、最短の往復時間が最短の待ちの { $short } 以上なら、どちらもありうる。送るものがあった時間の { $taken } でサーバーの受信ウィンドウがいっぱいなら、本文を遅くしか受け取っていない。その { $buffered } で自分の送信バッファーが小さすぎれば、それが原因である。
finding-request_stage-try = 示された段階を改善してください。原因の見分け方は結論に書かれています。

finding-request_path-means = 接続のセグメントが失われるか順序が入れ替わり、リクエストが遅れています。
finding-request_path-signs = 観測したセグメントの { $lossy } 以上が再送されたか、順序どおりに届かなかった。{ $timeout } 以上かかったリクエストは再送タイムアウトを待った。経路にキューがある場合（平均の往復時間が最短の { $grown } 倍以上で { $delayed } を超えて長い）を除く。損失はそのキューによる。
finding-request_path-try = `sokudo probe` で経路を測り、経路上のインターフェースの破棄数を確認してください。

finding-slow_label-means = テスト計画のリクエストのうち 1 種類が、ほかよりはるかに遅くなっています。全リクエストの平均では分かりません。
finding-slow_label-signs = 平均応答時間が、中央のラベルの { $times } 倍以上で { $least } 以上長い。サンプルが { $few } 件未満のラベルは数えない。休まずリクエストするユーザーの時間の { $most } 以上を占めれば、レートを決めている。
finding-slow_label-try = ほかを調整する前に、そのリクエストだけを調べてください。

finding-softirq_core-means = 1 つのコアが、受信パケットの割り込み処理にすべての時間を使っていました。ほかのコアが空いていても、パケットは待たされるか破棄されます。
finding-softirq_core-signs = 1 つのコアが、時間の { $full } 以上を softirq と irq に使った。
finding-softirq_core-try = 受信キューを複数のコアに分け（RSS、RPS、irqbalance）、受信オフロード（GRO）を有効にし、測定のスレッドをそのコアから外してください。

finding-spinning-means = スレッドが眠らずに待つため、CPU 時間は限界を示すものではありません。コアの少ないホストでは、相手側の CPU も奪います。
finding-spinning-signs = --wait spin が指定され、リクエスト側スレッドが 1 コアの { $whole } 以上を使った。
finding-spinning-try = --wait block と比較し、スピンするスレッドには専用のコアを割り当ててください。

finding-stalled_flow-means = 送るデータがあるのに、接続がしばらく新しいデータを運びませんでした。両端のカーネルのカウンターから、原因がどちらの端か、その間かが分かります。
finding-stalled_flow-signs = 送信キューのデータが { $shortest } 以上、新しいセグメントとして送られなかった。その間の再送は経路を、相手側の未読データは相手のプログラムを示す。
finding-stalled_flow-try = 経路: その時刻のリンク状態、インターフェースのエラー、スイッチのログ、ファイアウォールを調べる。プログラム: 何を待っていたかを調べる。

finding-uneven_start-means = フェーズのフローの開始が、許容値より大きくずれました。合計は、同時に運んだ量を表しません。
finding-uneven_start-signs = 最初と最後の開始の差が、フェーズを繰り返しても --max-skew を超えた。
finding-uneven_start-try = 最後のホストの開始を遅らせたものを調べてください。コアのほかの処理か、フローに対するコアの不足です。または --max-skew を大きくしてください。

finding-truncated_responses-means = UDP の応答が収まらず、切り詰められた。リゾルバーなら TCP で問い合わせ直すが、この負荷はそうしないので、その費用は数値に含まれない。
finding-truncated_responses-signs = 切り詰められた応答が { $some } 以上。
finding-truncated_responses-try = --udp-bytes で大きな応答を許すか、--transport tcp で測定する。

finding-unreachable-means = 受信ホストから、ポートで待ち受けるプログラムがないという応答（ICMP port unreachable）が返りました。受信側が動いていないか、ポートが閉じているか、ファイアウォールが拒否しています。
finding-unreachable-signs = このエラーが 1 回以上返った。損失が { $little } 未満なら参考情報とする（終了時の最後のデータグラムは、閉じたソケットに届くことがある）。
finding-unreachable-try = 受信ホストで `sokudo serve` が動いていること、途中のファイアウォールがそのポートへの UDP を通すことを確認してください。

finding-window_full-means = 未応答のリクエストまたはメッセージが上限に達し、次が待たされました。相手側か経路が指定したレートより遅いか、一時停止しました。
finding-window_full-signs = 開ループのリクエストの { $many } を超える分に空きがなく、時間を使ったのはリクエスト側ではなく応答だった。メッセージの場合は、受信側がデータを待つ間、時間の { $shapes } 以上で上限に達していた。
finding-window_full-try = レートを下げるか、未応答のリクエスト（--window、--connections）またはメッセージ（--inflight）の上限を増やしてください。

## Search for the knee
verdict-knee = { $option } = { $users } からリクエストが待ち始めます(95 % 区間 { $low }〜{ $high }、規則 { $rule })。単独では { $alone }、処理できる最大は { $most } です。
verdict-knee-slo = 要件は { $option } = { $users } まで守られ、{ $high } で破れました。そこでは { $rate }、平均 { $response } です。
verdict-knee-slo-never = 最小の { $option } でも要件が破れています。{ $rate }、平均 { $response } です。
verdict-knee-cpu-below = 最小の { $option } で既にサーバーの CPU がいっぱいなので、規則 { $rule } では答えられません。ほかの何かが使っています。最大は { $most } です。
verdict-knee-none = 規則 { $rule } では { $option } = { $highest } までに屈曲点がありません。最大は { $most }、平均 { $response } でした。
verdict-knee-no-cpu = サーバーの CPU を誰も観測していないため、規則 { $rule } では答えられません。{ $option } = { $highest } までの最大は { $most } です。
verdict-knee-others = { $first }。{ $second }。
verdict-knee-other = { $first }。
knee-by-bound = 漸近線では { $users }({ $low }〜{ $high })
knee-by-kneedle = スループットは { $users } で曲がります({ $low }〜{ $high })
knee-by-cpu = サーバーの CPU は { $users } でいっぱいです({ $low }〜{ $high })
verdict-knee-residual = ある段階でリトルの法則から { $residual } ずれています。実行が短すぎるか、見えないリクエストがあります。
verdict-knee-hysteresis = 下りでは上りより { $lost } 少ない段階がありました。すぐには回復しない系です。
proof-says = { $option } = { $value } では { $effect } 倍を運びました({ $run } の各回で { $low }〜{ $high })。{ $rule } は{ $outcome }。
proof-confirmed = 確認されました
proof-refuted = 否定されました
proof-undetermined = 各回の差が大きく、確認も否定もできません
verdict-protect = ユーザー { $users }、workers = pool = { $workers }、接続上限 { $open } で { $rate } (運べた最大の { $kept })。平均応答時間は { $response }、見込みは { $expected } です。{ $cause }
protect-threads = スレッド待ちが { $queued } 件、データベース接続待ちが { $pool } 件です。超過分はスレッドの手前で待っています。
protect-accept = 受け付け待ちの接続が { $accept } 本、データベース接続待ちが { $pool } 件です。超過分は受け付けキューで待っています。
protect-pool = データベース接続待ちが { $pool } 件あります。この上限では超過分をスレッドの手前に留められません。
protect-nowhere = サーバーのどのキューもたまりません。ユーザーの休止が十分長いか、サーバーの処理自体がスレッドより遅いためです。
protect-unknown = 超過分がどこで待っているかは不明です。サーバーのキューを観測していません。
protect-throughput = 上限が低すぎて、スループットが下がりました。
protect-errors = リクエストの { $errors } が失敗しました。接続上限がユーザーを断っています。
protect-response = 応答時間が手前のキューで説明できる長さ ({ $expected }) を超えました。上限が高すぎます。
verdict-protect-without = 上限なしでは { $rate }、平均応答時間 { $response } です。1 リクエストにスレッドが要する時間は、上限なしで { $before }、上限ありで { $after } です。

# 原因の重み付け。
verdict-suspected = 未確定です。一種類の観測だけが次を示しています: { $says }
verdict-beside = { $says } もう一つの原因: { $other }
verdict-against = { $says } これに反する観測: { $against }。
suspect-raise = この結論が正しければ、{ $option } を大きくすると増えます
suspect-leave-out = この結論が正しければ、{ $option } を外すと速くなります
suspect-set = この結論が正しければ、{ $option } とすると増えます
suspect-set-at-risk = この結論が正しければ、{ $option } とすると増えます。サーバーの異常終了で試験の最後のコミットが失われてもよいと許したときだけ試します
suspect-tighten = この結論が正しければ、{ $option } を下げると兆候が消え、結果がその値に従います
evidence-counted-of-due = { $host } で予定の終わりまでに数えた量: 予定 { $due } のうち { $value }
evidence-wanted-cpu = { $host } と相手のテストのスレッドが CPU を必要とした時間: 全体の { $value } だけ
evidence-tcp-needless = 相手がすでに受け取っていたのに { $host } が再送したセグメント: { $value }
evidence-missing = シーケンス番号で分かる、送信されて届かなかったデータグラム: { $value }
against-carried-signs = 予定の終わりまでに送るべき量の { $kept } 以上が届き、失敗・空き待ちは { $failed } 以下でした。指定した負荷は達成されています。
against-idle_thread-signs = 名指しされたスレッドが CPU を使っていた、または CPU を待っていた時間は { $idle } 未満で、CPU 待ちは { $waiting } 未満、ホストが止まっていた時間もフェーズの { $still } 未満です。
against-needless_repeats-signs = 再送されたセグメントの { $needless } 以上を、相手はすでに受け取っていました。
against-seldom_ready-signs = テストのスレッドが CPU を使っていた、または待っていた時間は { $wanted } 未満で、ほかのプログラムが奪えた時間はわずかです。

## With and without a change
verdict-rrul = バッファーブロートの評価は { $grade } です。負荷により、往復時間の中央値 { $idle } が { $added } 延びました（上り { $streams } 本の TCP ストリームで { $up }、下り { $streams } 本で { $down }）。
verdict-rrul-both = 両方向に負荷をかけると中央値は { $p50 }、p99 は { $p99 } で、上り { $up }、下り { $down } を運びました。
verdict-rrul-lost = 負荷の下で最大 { $lost } のデータグラムが失われました。評価は届いたものについてのもので、これほど多くを捨てるキューは短すぎるか、すぐに再び埋まっています。
verdict-rrul-next-up = 先に溜まるのは上りのキューです。上りで最も遅いリンクの送信側に、リンクよりわずかに低いレートで fq_codel か cake を設定してください。
verdict-rrul-next-down = 先に溜まるのは下りのキューです。下りで最も遅いリンクの送信側に、リンクよりわずかに低いレートで fq_codel か cake を設定してください。
verdict-rrul-undetermined = バッファーブロートの評価はできません。無負荷、上りの負荷、下りの負荷の下での往復時間と、各方向で実際に運ばれた負荷が必要です。
verdict-rrul-definition = 評価: 上りの負荷と下りの負荷がデータグラムの往復時間の中央値に加える時間の平均が { $grades }、それ以上は F（しきい値は DSLReports の速度テスト dslreports.com/faq/17930 のもの。あちらは平均値、ここでは中央値で判定）。
verdict-versus-more = { $change } { $with }、変更なしで { $without } を運びます。{ $ratio } 倍です({ $runs } 回で { $low }〜{ $high })。
verdict-versus-less = { $change } { $with } しか運ばず、変更なしでは { $without } です。{ $ratio } 倍です({ $runs } 回で { $low }〜{ $high })。
verdict-versus-same = { $change } { $with }、変更なしで { $without } を運びます。違いは示されませんでした({ $runs } 回で { $low }〜{ $high } 倍)。
versus-set = --{ $option } { $setting } では
versus-left-out = --{ $option } を省く変更では
evidence-refuted = 試験で --{ $option } を { $setting } にすると運ばれた量は { $effect } 倍で、この原因の予測と合いません
against-proof-signs = 後の実行が疑わしいオプションを変えたが、運ばれた量はこの原因の予測どおりに変わらなかった。

# ホストが自ら捨てたもの。
evidence-counter = その間の { $host } の `{ $counter }`: { $value }
evidence-conntrack-drops = { $host } の接続追跡が捨てたパケット: { $value }
evidence-conntrack-entries = { $host } が追跡した接続の最大数: { $value }
evidence-conntrack-limit = { $host } が追跡できる接続の数: { $value }
evidence-send-refused = { $host } のカーネルが送信の呼び出しに「許可されていない操作」と答えました
rule-checksum-errors-says = { $host } はチェックサムの誤りのため { $count } を捨てました。最初に届かなかったものの { $share } です。
rule-checksum-errors-next = { $host } までの間でバイトを書き換えるもの（装置、ドライバーのチェックサムオフロード (`ethtool -k`)、プログラム）を探してください。
finding-checksum_errors-means = チェックサムの誤ったパケットが届き、受信ホストが捨てました。データグラムは失われ、セグメントは再送されます。
finding-checksum_errors-signs = 一つのホストのチェックサム誤りのカウンターが { $often } 以上増え、失われたデータグラムや再送されたセグメントの { $share } 以上を説明します。
finding-checksum_errors-try = バイトを書き換えるもの（装置、チェックサムオフロード、途中のプログラム）を探し、オフロードを一つずつ切ってください。
rule-filter-drops-in-says = { $host } は届いたもののうち { $count } を捨てました。パケットフィルター（nftables、iptables）が通しませんでした。最初に届かなかったものの { $share } です。
rule-filter-drops-out-says = { $host } は送るはずの { $count } を捨てました。パケットフィルター（nftables、iptables）が出しませんでした。最初に届かなかったものの { $share } です。
rule-filter-drops-late-says = { $host } は届いたもののうち { $count }（届いた全体の { $share }）を捨てました。パケットフィルター（nftables、iptables）が通しませんでした。相手が送り直すので、そのぶん応答が遅れます。
rule-filter-drops-refused-says = { $host } のパケットフィルターが送信を断りました。カーネルの答えは「許可されていない操作」です。
rule-filter-drops-next = { $host } の規則をカウンターとともに見てください: `nft list ruleset`、`iptables -L -v -n`。
finding-filter_drops-means = ホストのパケットフィルター（ファイアウォール）が、届いたもの、または送るはずのものを捨てました。
finding-filter_drops-signs = フィルターの前後のカーネルのカウンターの間で、一つのホストの { $often } 個以上のパケットが消え、最初に届かなかったものの { $share } 以上です。TCP の応答を待つ負荷で失敗がないときは、届いた全体の { $late } 以上です。または、送信の呼び出しが許可されませんでした。
finding-filter_drops-try = そのホストのフィルターの規則とカウンターを見て、この通信を通してください。
rule-conntrack-full-says = { $host } の接続追跡が { $count } を捨てました。表が一杯か、接続を登録できませんでした。
rule-conntrack-full-next = { $host } の net.netfilter.nf_conntrack_max を大きくするか、この通信を追跡から外す (notrack) か、接続を減らしてください。
finding-conntrack_full-means = ホストの接続追跡が、表が一杯か接続を登録できないために、パケットを捨てました。
finding-conntrack_full-signs = 一つのホストの接続追跡のカウンター（drop、insert_failed、early_drop）が { $often } 以上増えました。
finding-conntrack_full-try = 表を大きくするか、タイムアウトを短くするか、通信を追跡から外してください。
# 中断。
rule-interrupted-unobserved-says = { $begin } から { $end } まで何も届きませんでした（{ $from } → { $to }）。サーバーか、そこまでの経路が止まっていました。その間も { $from } は動いていました。
rule-interrupted-unobserved-next = その時刻の { $to } と経路の状況（再起動、一時停止、スイッチのログ）を調べてください。負荷全体の数値にはこの空白が含まれます。
rule-interrupted-says = { $begin } から { $end } まで何も届きませんでした（{ $from } → { $to }）。その間も両端は動いていました。
rule-interrupted-interface-says = { $begin } から { $end } まで何も届きませんでした（{ $from } → { $to }）。{ $host } のインターフェース { $device } が落ちていました。
rule-interrupted-program-says = { $begin } から { $end } まで何も届きませんでした（{ $from } → { $to }）。{ $host } ではすべてが止まっていました。
rule-interrupted-next = その時刻の { $from } と { $to } の間を調べてください: 経路、スイッチのログ、ファイアウォール。全体の数値にはこの空白が含まれます。
rule-interrupted-interface-next = { $host } のリンクが落ちた理由を調べてください: ケーブル、スイッチのポート、誰が切ったか。全体の数値にはこの空白が含まれます。
rule-interrupted-program-next = { $host } の sokudo を止めたものを調べてください: デバッガー、システムの凍結、マシンの一時停止。全体の数値にはこの空白が含まれます。
evidence-hole = { $host } に何も届かなかった最も長い時間: { $value }
evidence-hole-sent = その間に { $host } のインターフェースが送った最も少ないパケット: { $value }
evidence-hole-received = その間に { $host } のインターフェースが受けた最も少ないパケット: { $value }
evidence-interface-down = { $host } のインターフェース { $device } が無効か、リンクがありませんでした
finding-interrupted-means = 負荷の途中で、しばらく何も通りませんでした。全体の平均は、空白もそれ以外の時間も表しません。
finding-interrupted-signs = 負荷の { $share } 以上の間、通ったのはふだんの速さの { $quiet } 以下でした。ふだんは各区間で { $usual } 以上が通ります。負荷の間に二度までです。相手側を観測していない場合は、負荷の { $unobserved } 以上です。その時間の { $starved } 以上、スレッドが実行可能なのに CPU がなかった場合を除きます。
finding-interrupted-try = 所見が示すもの（インターフェース、ホスト、その時刻のホスト間の経路）を調べてください。
# そのほかの原因。
rule-slow-start-says = { $from } → { $to } の転送は { $seconds }、往復 { $trips } 回分で終わりました。経路が運べる量を TCP が知る前でした（スロースタート）。
rule-slow-start-next = 経路が運べる量を見るには、もっと長く測ってください。短い転送には、往復時間を短くする、接続を保つ、初期ウィンドウを増やす (`ip route … initcwnd`) 方法があります。
evidence-load-seconds = { $host } の負荷の長さ: { $value }
evidence-tcp-cwnd-highest = { $host } の最大の輻輳ウィンドウ: { $value } セグメント
finding-slow_start-means = 往復数回分の転送は TCP の始まりに制限されます。10 セグメントで始まり、往復ごとに倍になります。
finding-slow_start-signs = 負荷は往復 { $trips } 回分以下で終わり、接続は一度もスロースタートを出ず、両端が時間の { $shapes } 以上を待っていました。
finding-slow_start-try = もっと長く測るか、転送の間も接続を保ってください。
rule-cpu-quota-says = CPU 時間の割り当てが { $host } の sokudo を止めました。期間の { $share } で使い切られました。
rule-cpu-quota-next = { $host } のコントロールグループの割り当て（cpu.max、コンテナーの CPU 制限）を増やすか、負荷を減らしてください。
evidence-throttled = { $host } の CPU の割り当てが使い切られた期間: { $value }
evidence-self-cpu = { $host } の sokudo の最も忙しいスレッド: コアの { $value }
finding-cpu_quota-means = コントロールグループがホストの sokudo の CPU 時間を制限し、割り当てを使い切るたびにスレッドが止まりました。
finding-cpu_quota-signs = 期間の { $shapes } 以上で割り当てが使い切られました（cpu.stat の nr_throttled）。
finding-cpu_quota-try = 割り当て（cpu.max、コンテナーの CPU 制限）を増やすか、スレッドを減らしてください。
rule-reordering-waited-says = { $from } から { $to } へのセグメントが { $count } 回追い越されました（送信数の { $share }）。カーネルはそれを待ち、ほとんど再送しませんでした。
rule-reordering-segments-says = { $from } から { $to } へのセグメントが追い越され、失われたとみなされました。{ $share } が再送され、うち { $count } は不要でした。
evidence-tcp-reorderings = { $host } が順序の入れ替わった確認応答を見た回数: { $value }
rule-hot_link-pair = { $pairs } のフローのうち一つが遅れています。{ $from } → { $to } は { $bits }、中央のものは { $middle } です。
evidence-device-received = { $host } の最も忙しいインターフェースの平均受信速度: { $value }
against-no_full_buffer-signs = ソケットが捨てたデータグラムのうち、ホストのカウンターで一杯のバッファーに当たったものは { $full } 未満で、チェックサムの誤りが同じ以上を説明します。
rule-receiver-buffer-overflow-requests-says = { $host } のソケットのバッファーが一杯で { $count } が捨てられ、{ $failed } 件のリクエストに応答がありませんでした。
rule-receiver-buffer-overflow-requests-next = 同時のリクエストを減らすか、{ $host } の net.core.rmem_default を大きくするか、そのプログラムのコアを空けてください。

# A full queue of an application server.
rule-session-pool-says = クライアント側のプールが限界です。セッション { $size } 本のうち { $used } 本が使用中で、{ $waiting } 個のクライアントが待っています。トランザクション { $latency } のうち { $wait } がその待ちです。
rule-session-pool-next = データベースが許すなら増やして (--pool { $wanted }) 測り直してください。pool=1..{ $wanted } の屈曲点を探すと、増やしても伸びなくなる大きさが分かります。
evidence-pool-used = 使用中のプールのセッション (平均): { $value }
evidence-pool-size = プールのセッション: { $value }
evidence-pool-waiting = 空きを待つクライアント (平均): { $value }
evidence-pool-wait = セッションを待つ時間 (平均): { $value }
rule-repeated-transactions-says = { $attempts } 回の試行のうち { $share } を、データベースがほかのトランザクションのために終わらせました (直列化の失敗 { $serialization }、デッドロック { $deadlocks }、長すぎるロック待ち { $locks })。成立したトランザクションは { $transactions } 件です。
rule-repeated-transactions-serialization-next = 同じ行を読み書きするトランザクションを減らし、短くしてください。アプリケーションが許せば、より弱い分離レベルも使えます。
rule-repeated-transactions-deadlock-next = すべてのトランザクションが同じ順 (たとえばキーの順) にロックを取るようにし、その行に必要な最も強いロックを最初に取ってください。
rule-repeated-transactions-lock-next = ロックを持つトランザクションを短くし、より多くの行に分散させてください。待たれているロックを誰が持っているかを調べてください。
rule-transaction-failures-constraint-says = トランザクションの { $share } が失敗しました。{ $count } 回の試行がデータベースの制約に反しています。処理されているのは残りの毎秒 { $served } 件です。
rule-transaction-failures-constraint-next = 最初のエラーに制約の名前があります。テーブルを作り直すか、実行ごとに別のキーを使ってください。
rule-transaction-failures-denied-says = トランザクションの { $share } が失敗しました。{ $count } 回の試行はユーザーに権限がありません。処理されているのは残りの毎秒 { $served } 件です。
rule-transaction-failures-denied-next = 最初のエラーが示す権限を与えるか、データソース名で別のユーザーを指定してください。
rule-transaction-failures-wrong-says = トランザクションの { $share } が失敗しました。{ $count } 回の試行は、文が誤っているか、存在しないものを指しています。処理されているのは残りの毎秒 { $served } 件です。
rule-transaction-failures-wrong-next = 最初のエラーに文があります。文を直すか、必要なテーブルを作ってください。
rule-transaction-failures-cancelled-says = トランザクションの { $share } が失敗しました。{ $count } 回の試行で、タイムアウトなどによりデータベースが文を取り消しました。処理されているのは残りの毎秒 { $served } 件です。
rule-transaction-failures-cancelled-next = 文を終わらせる設定 (statement_timeout、max_statement_time) と、文に時間がかかる理由を調べてください。
rule-transaction-failures-unanswered-says = トランザクションの { $share } が失敗しました。{ $count } 回の試行で、負荷側が待つ時間内に応答がありませんでした。応答を止めたのがデータベースか、経路か、その間にあるものかは、これだけでは分かりません。処理されたのは毎秒 { $served } 件です。
rule-transaction-failures-unanswered-next = サーバーのセッションがまだその文を処理しているか (pg_stat_activity、SHOW PROCESSLIST) を調べてください。処理中なら文に時間がかかっています。クライアントを待っているなら、応答が途中で失われています。1 パケットに収まる応答で試してください。
rule-transaction-failures-resources-says = トランザクションの { $share } が失敗しました。{ $count } 回の試行でデータベースに空きがありませんでした。処理されているのは残りの毎秒 { $served } 件です。
rule-transaction-failures-resources-next = 満杯のもの (ディスク、メモリー、サーバーが許すセッション) は最初のエラーで分かります。
rule-transaction-failures-vain-says = トランザクションの { $share } ({ $count } 件) が最終的に失敗しました。どの試行でも、ほかのトランザクションが同じ行を変えていたか、保持していました。処理されているのは毎秒 { $served } 件です。
rule-transaction-failures-vain-next = 同じ行を変えるクライアントを減らし、トランザクションを短くし、ロックを同じ順に取ってください。
evidence-tries = 試行: { $value }
evidence-vain-tries = 終わらされた試行: { $value }
evidence-failed-transactions = { $host } で最終的に失敗したトランザクション: { $value }
evidence-tries-of-a-kind = このように失敗した試行: { $value }
rule-target-queue-pool-says = 接続プールが限界です。接続 { $size } 本のうち { $used } 本が使用中で、{ $waiting } 件のリクエストが待っています{ $wait }。
rule-target-queue-pool-next = データベースが許すならプールを { $servers } 本に増やしてください。{ $factor } 倍になると予測されます{ $limit }。
rule-target-queue-pool-raise = データベースが許すならプールを増やし、測り直してください。
rule-target-queue-workers-says = ワーカースレッドが限界です。{ $size } 本のうち { $used } 本が働いていて、{ $waiting } 件のリクエストが待っています{ $wait }。
rule-target-queue-workers-next = スレッドを { $servers } 本に増やしてください。{ $factor } 倍になると予測されます{ $limit }。
rule-target-queue-workers-raise = スレッドを増やし、測り直してください。
rule-target-queue-wait = (1 リクエストあたり { $seconds })
rule-target-queue-next-cpu = 。次の限界は CPU で、ユーザー約 { $users } のときです
rule-target-queue-next-unknown = (CPU か別の段がいっぱいになるまで)
rule-target-queue-connections-says = 接続数の上限が限界です。{ $size } 本のうち { $used } 本が開いていて、それ以上は待つか断られます。
rule-target-queue-connections-raise = 接続数の上限を上げるか、ユーザーを減らしてください。
evidence-target-used = 使用中(平均): { $value }
evidence-target-size = 最大: { $value }
evidence-target-waiting = 待ち(平均): { $value }
evidence-resets = 接続がリセットされたリクエスト: { $value }
finding-session_pool-means = データベースのクライアントが、共有するセッション (--pool) の空きを待っています。アプリケーションがサーバーの接続プールを待つのと同じです。
finding-session_pool-signs = プールの平均 { $full } 以上が使用中で、{ $waiting } 個以上のクライアントが待っている。
finding-session_pool-try = データベースが許す限り --pool を増やしてください。それで伸びなければ、データベース自身が限界です。
finding-repeated_transactions-means = データベースがほかのトランザクションのために試行を終わらせました。順序を付けられない、互いに待ち合う、ロックが時間内に空かない、のいずれかです。負荷はそれを再び試すため、データベースに求めた量と成立した量は異なります。
finding-repeated_transactions-signs = 試行の { $some } 以上がそのように終わった。{ $many } 以上では、データベースの仕事の多くが無駄になっている。
finding-repeated_transactions-try = ロックを同じ順に取り、トランザクションを短くし、より多くの行に分散させてください。
finding-transaction_failures-means = トランザクションが最終的に失敗しました。理由は、制約、権限の不足、誤った文、サーバーのタイムアウト、空きの不足、または毎回ほかのトランザクションに妨げられたことのいずれかです。数値は残ったトランザクションのものです。
finding-transaction_failures-signs = トランザクションの { $some } 以上が失敗し、失敗の { $most } 以上が同じ種類である。{ $grave } 以上なら数値はその失敗についてのものになる。
finding-transaction_failures-try = 最初のエラーを見てください。文と理由が分かります。
finding-target_queue-means = アプリケーションサーバーの待ち行列の一つ(接続、ワーカースレッド、接続プール)がいっぱいです。サーバー自身の計数によります。最後のいっぱいの段が限界で、手前の段もいっぱいにします。
finding-target_queue-signs = サンプルの { $most } 以上で、ある段の { $full } 以上が使用中であり、その間に平均 { $waiting } 件以上のリクエストが待っているか、接続が断られている。
finding-target_queue-try = 示された段を増やして測り直してください。`sokudo target set` は負荷の間に変えられます。

rule-black-hole-says = { $near } から { $far } へ、小さいセグメントは届きましたが、{ $segment } のセグメントは 1 つも届きませんでした。最初のものを、終わりまでの { $seconds } に { $again } 回再送しました。経路 MTU より大きいパケットが消え、「パケットが大きすぎる」という通知が戻らない経路 (RFC 2923) ではこうなります。
rule-black-hole-next = 通る最大のパケットを { $near } で `ping -M do -s SIZE { $far }` により調べ、MTU の小さいリンクを突き止めてください。ICMP エラーを通す、そこで MSS を制限する、インターフェースの MTU を合わせる、または net.ipv4.tcp_mtu_probing を 1 にしてください。
evidence-segment-bytes = { $host } の最大セグメントのペイロード: { $value }
evidence-none-through = 負荷全体で { $host } で数えられた量: { $value }

finding-black_hole-means = 接続の小さいセグメントは届くのに、最大サイズのセグメントが経路で消えます。経路 MTU が両端の想定より小さく、それを知らせる ICMP エラーが届きません。
finding-black_hole-signs = 接続は確立し、相手のウィンドウは開いていたのに、負荷全体で何も運ばれなかった。最大サイズのセグメントが終わりまで { $shortest } 以上送信キューに残り、{ $again } 回以上再送された。新しいセグメントは続かず、相手に未読のデータはなかった。
finding-black_hole-try = ICMP エラー（“fragmentation needed”、“packet too big”）を通すか、MSS を制限するか、インターフェースの MTU を経路に合わせるか、net.ipv4.tcp_mtu_probing を 1 にしてください。

rule-far-end-lost-says = { $planned } の負荷の開始から { $after } 後に { $host } が失われました。制御接続が終わり、負荷もそこで終わりました。
rule-far-end-lost-unfinished-says = 開始から { $after } 後、作業が終わる前に { $host } が失われました。制御接続が終わり、負荷もそこで終わりました。
rule-far-end-lost-next = { $host } の sokudo が終了した理由、またはそのホストに届かなくなった理由を調べてください。最後の出力、システムに停止させられていないか（`dmesg`）、ホストが応答するかです。
evidence-host-lost = { $host } への制御接続は開始から { $value } 後に終わりました: { $why }
evidence-last-through = 残った側の時計による、このフローの最後の応答または到着（{ $host } は失われた）: 開始から { $value } 後
evidence-last-sample = { $host } で観測していたものの最後のサンプル: 開始から { $value } 後

finding-far_end_lost-means = 負荷の途中で測定対象のホストが失われました。プログラムが終了したか、ホストに届かなくなりました。その数値は欠けています。
finding-far_end_lost-signs = 予定した時間の { $before } が過ぎる前に、負荷のホストへの制御接続が終わり、再開できなかった。
finding-far_end_lost-try = そこで sokudo が終了した理由（最後の出力、`dmesg`）と、ホストとそこまでの経路が動いているかを調べてください。

## ファイル

verdict-files = { $flows }: { $written } ファイル（{ $bytes }）を { $elapsed } で複製しました。内容 { $rate }、回線上は { $wire } です。
verdict-files-nothing = { $flows }: { $files } ファイルを { $elapsed } で比較しました。すべて同一でした。
verdict-files-unfinished = { $flows }: { $elapsed } で途切れ、両端の集計がそろいませんでした。送られたのは { $wire } です。
verdict-files-would = { $flows }: { $files } ファイルのうち { $written } ファイル（{ $bytes }）が複製の対象です。何も変更していません。
verdict-files-same = { $flows }: { $files } ファイルを { $elapsed } で比較しました。複製が必要なものはありません。
verdict-files-failed = 複製できなかった名前: { $failed }。{ $why }
verdict-files-followed = { $rounds } ラウンドで追従しました。変更から複製までは中央値 { $median }、p99 { $p99 }、最大 { $max } です。速さを決めるのは元の変更です。
verdict-files-unchanged = 追従しましたが、元に変更はありませんでした。
rule-files-cpu-next = 圧縮レベルを下げる（--level none または 1）か、接続を増やして（--connections）{ $host } の複数のコアに分担させるか、--transport tcp と比較してください。

# 複製の予測と設定の選択。
advice-stage-link = 回線
advice-stage-window = 接続ごとのウィンドウ
advice-stage-turns = ファイルごとの往復
advice-stage-sender = 送信側の CPU
advice-stage-receiver = 受信側の CPU
advice-stage-cpu = 両端が共有する CPU
advice-stage-read = 複製元の読み出し
advice-stage-write = 複製先への書き込み
advice-stage-walk = 複製元の一覧
advice-rule-holds = ここでは成り立ちます: 「{ $rule }」予測はそうした場合 { $with }、しない場合 { $without } です。
advice-rule-fails = ここでは成り立ちません: 「{ $rule }」予測はそうした場合 { $with }、しない場合 { $without } です。
advice-rule-untold = この複製元と回線では確かめられません: 「{ $rule }」
advice-rule-fast-plain = 速い回線 (1 Gb/s) では圧縮しない。
advice-rule-slow-packed = 遅い回線 (100 Mb/s) ではレベル 1~3 で圧縮する。
advice-rule-large-few = 大きなファイルには接続を少なくする。
advice-rule-small-many = 小さなファイルには接続を 8 本程度にする。
verdict-advice-choice = --level { $level } --connections { $connections } --batch { $batch } を選んでください。複製元全体の予測は { $seconds } ({ $low }~{ $high }) です。
verdict-advice-packed = 圧縮は、回線より速く圧縮できる間だけ得になります。1 コアはレベル 1 で { $speed } を圧縮し ({ $ratio } 分の 1)、回線は { $way } を運びます。速さを決めるのは{ $stage }です。
verdict-advice-plain = 圧縮は、回線より速く圧縮できる間だけ得になります。1 コアはレベル 1 で { $speed } を圧縮し、空いているのは { $cores } コア、回線は { $way } を運びます。速さを決めるのは{ $stage }です。
verdict-advice-dense = 圧縮しても得になりません。バイトの { $dense } はすでに圧縮されているようです。速さを決めるのは{ $stage }です。
verdict-advice-proof = 交互に行った { $trials } 回の試行で確かめました: 内容で { $rate }、既定の設定では { $usual } です。実測と予測の所要時間の差は { $off } (中央値) です。
verdict-advice-would = 所要時間は約 { $seconds } ({ $low }~{ $high }) の見込みです。制限するのは{ $stage }です。
verdict-advice-would-guess = 所要時間は約 { $seconds } ({ $low }~{ $high }) の見込みです。制限するのは{ $stage }です。試行では何も書き込まないため、複製先のディスクは推測です。
verdict-advice-within = 予測は { $seconds } ({ $low }~{ $high })、実測は { $elapsed } で、差は { $off } です。{ $why }
verdict-advice-longer = 予測は { $seconds } ({ $low }~{ $high })、実測は { $elapsed } で、{ $off } 長くかかりました。{ $why }
verdict-advice-shorter = 予測は { $seconds } ({ $low }~{ $high })、実測は { $elapsed } で、{ $off } 短く済みました。{ $why }
verdict-advice-gap-wire = 回線を通ったのは { $expected } ではなく { $measured } でした。
verdict-advice-gap-cpu = 両端の CPU 時間は { $expected } ではなく { $measured } でした。
verdict-advice-gap-rate = 接続が運んだのは { $expected } ではなく { $measured } でした。

## Database servers
rule-fsync-bound-says = { $server } のセッション { $sessions } のうち { $waiting } が、ログがディスクに書かれるのを待っています。コミットの同期が限界です。
rule-fsync-bound-next = 同期の速いディスク (停電に強いキャッシュ付き) を使う、1 トランザクションでまとめてコミットする、同時にコミットするクライアントを増やす (同期は共有されます) のいずれかを試してください。クラッシュで直前のコミットを失ってよければ、synchronous_commit=off (MariaDB では innodb_flush_log_at_trx_commit=2) で同期の費用がわかります。
rule-embedded-database-computes-says = { $database } は { $host } のこの負荷のスレッドの中で動きます。トランザクションはスレッドの時間の { $busy } を使い、各スレッドで 1 つずつ順に進みます。最も忙しいスレッドは時間の { $cpu } を計算に、{ $waits } をディスクまたはロックの待ちに使います。
rule-embedded-database-computes-next = スレッドを増やすと (--threads) 読み取りは同時に進みます。書き込みは 1 つずつです。サーバーは自分の CPU 時間を持ちます。
rule-embedded-database-waits-says = { $database } は { $host } のこの負荷のスレッドの中で動きます。トランザクションはスレッドの時間の { $busy } を使い、各スレッドで 1 つずつ順に進みます。最も忙しいスレッドは時間の { $waits } をディスクまたはロックの待ちに、{ $cpu } を計算に使います。
rule-embedded-database-waits-next = 1 トランザクションのコミット量を増やすか、同期の速いディスクを使ってください。障害時に最後のコミットを失ってもよければ、`--commit async` でディスクを待つ分の差が分かります。
rule-database-cpu-machine-says = { $server } のセッション { $sessions } のうち { $working } が計算していて、そのマシンに CPU 時間の余りがありません。
rule-database-cpu-machine-next = 負荷が同じマシンを使っているなら、別のマシンから負荷をかけてください。そのうえで最も時間のかかる文の実行計画を調べるか、サーバーのコアを増やしてください。
rule-database-cpu-quota-says = コントロールグループの CPU クォータが、全時間の { $throttled } の間 { $server } を止めています。
rule-database-cpu-quota-next = クォータ (コントロールグループの cpu.max、コンテナーの CPU 制限) を上げるか、負荷を下げてください。
evidence-database-working = { $host }: { $server } のセッション { $sessions } のうち { $value } が処理中
evidence-database-statement = { $host }: { $server } の文すべての { $all } のうち、`{ $statement }` が { $value }
evidence-database-scan = { $host }: { $server } の文すべての { $all } のうち、`{ $statement }` が { $value } ({ $step } による)
evidence-database-cores = { $host }: { $server } のセッションは { $value } コア分を使用
rule-database-lost-says = { $server } は { $begin } 以降応答していません。セッション { $broken } 本が切れ、その後の数値はサーバーの速さを表しません。
rule-database-lost-back-says = { $server } は { $begin } から { $end } まで応答していません。セッション { $broken } 本が切れ、この間を含む平均はサーバーの速さを表しません。
rule-database-lost-next = { $server } が終わった理由をログで調べ、測り直してください。
evidence-database-up = { $host }: { $server } がモニターに応答した時間の割合は { $value }
evidence-lost-sessions = { $host }: 負荷のセッション { $value } 本が切れた
rule-lock-chain-row-says = { $server } のセッション { $sessions } のうち { $waiting } がロックを待っています。うち { $queue } が { $relation } で { $holders } トランザクションの後ろに並んでいて、同じ行を変えるものは 1 つずつしか進みません。
rule-lock-chain-row-next = 変更をより多くの行に分散する (tpcb では sokudo db init で支店をクライアントの数だけ作る) か、その行の変更をトランザクションの最後に移してロックの保持を短くしてください。
rule-lock-chain-says = { $server } のセッション { $sessions } のうち { $waiting } が、ほかのトランザクションのロックを待っています。
rule-lock-chain-next = ロックを保持するトランザクションを短くする、ロックを同じ順序で取る、同じ行を変えるクライアントを減らす、のいずれかを試してください。
rule-cache-miss-says = { $server } のセッション { $sessions } のうち { $waiting } が、キャッシュにないデータを待っています。読み出しは { $reads }。
rule-cache-miss-next = データベースのキャッシュを大きくする (shared_buffers、MariaDB では innodb_buffer_pool_size)、触れるデータを減らす、速いディスクを使う、のいずれかを試してください。キャッシュが温まってから測り直してください。
rule-client-bound-says = { $server } のセッションの { $idle } が次の文を待ち、{ $host } の負荷スレッドは時間の { $busy } で働いています。限界はデータベースではなく負荷の生成側です。
rule-client-bound-next = 負荷のスレッドを増やす (--threads) か、負荷をかけるホストを増やしてください。
rule-plan-change-says = { $all } 個の文のうち { $changed } 個の実行計画が、負荷の前と後で違います。`{ $statement }`: 前は { $before }、後は { $after }。
evidence-plans-asked = { $host }: 負荷の文 { $value } 個の実行計画を前後に問い合わせた
rule-plan-change-next = ANALYZE のあと、今の表のままで測り直してください。変更の前後の時間は別の実行計画のものです。新しい計画のほうが遅ければ、その表の統計と索引を調べてください。
evidence-plan-change = `{ $statement }`: { $before } が { $after } になった
rule-checkpoint-dip-says = { $server } のチェックポイントの間 (時間の { $share }) のトランザクションは { $low }、それ以外では { $usual } でした。
rule-checkpoint-dip-next = チェックポイントの間隔を広げ、書き込みを分散してください。要求によるものがなくなるまで max_wal_size を上げ、checkpoint_timeout を延ばし、checkpoint_completion_target=0.9 にします。ログは別のディスクに置いてください。
evidence-database-on-log = { $host }: { $server } のセッション { $sessions } のうち { $value } がログを待っている
evidence-database-syncs = { $host }: { $server } のログの同期 { $value }
evidence-database-sync-time = { $host }: { $server } のログの同期 1 回に { $value }
evidence-database-log-io = { $host }: { $server } のスレッドは時間の { $value } でログの I/O をしている
evidence-database-commits = { $host }: { $server } のコミット { $value }
evidence-database-locked = { $host }: { $server } のセッション { $sessions } のうち { $value } がロックを待っている
evidence-database-queue = { $host }: { $server } の { $value } セッションが { $relation } の行を、{ $holders } トランザクションの後ろで待っている
evidence-database-lock-waits = { $host }: { $server } で行を待ち始めたトランザクション { $value }
evidence-database-lock-time = { $host }: { $server } で行を待つ時間は 1 回 { $value }
evidence-database-holder = { $host }: { $server } でほかを待たせている側で最も多いのは { $event }: { $sessions } セッションのうち { $value }
evidence-database-on-reads = { $host }: { $server } のセッション { $sessions } のうち { $value } がディスクのデータを待っている
evidence-database-data-io = { $host }: { $server } のスレッドは時間の { $value } でデータファイルの I/O をしている
evidence-database-reads = { $host }: { $server } のキャッシュになかった読み出し { $value }
evidence-database-hits = { $host }: { $server } のキャッシュは求められたものの { $value } を保持している
evidence-database-idle = { $host }: { $server } のセッションの { $value } がクライアントを待っている
evidence-driver-cpu = { $host }: 負荷スレッドは 1 コアの { $value } を使っている
evidence-driver-wait = { $host }: 負荷スレッドは時間の { $value } で CPU を待っている
evidence-transactions = { $host }: 生成側が数えたトランザクション { $value }
evidence-checkpointing = { $host }: { $server } のチェックポイントは時間の { $value } で進行中だった
evidence-checkpoint-rate = { $host }: その間 { $value }、それ以外 { $usual }
evidence-checkpoints-requested = { $host }: { $server } で時間前に要求されたチェックポイント { $value }
evidence-full-pages = { $host }: { $server } がログに書いたページ全体 { $value }
finding-fsync_bound-means = コミットが、データベースのログがディスクに書かれるのを待っています。ログの同期は 1 セッションずつ行われ、その間に来たものは次の同期を共有します。
finding-fsync_bound-signs = サーバー内のセッションの { $server } 以上、全体の { $all } 以上がログを待ち (PostgreSQL では WALSync、WALWrite、MariaDB では状態 Commit)、サーバーが同期の回数を数えている。
finding-fsync_bound-try = 速いディスク、コミットごとの仕事を増やす、同時のクライアントを増やす。直前のコミットを失ってよければ synchronous_commit=off。
finding-embedded_database-means = データベースが SQLite のように負荷の中で動きます。トランザクションの計算も待ちも負荷自身のスレッドが、各スレッドで 1 つずつ順に行います。もっと処理できるサーバーは存在しません。
finding-embedded_database-signs = トランザクションがスレッドの時間の { $busy } 以上を使い、スレッドが { $own } 以上を計算またはディスクの待ちに使い、指定されたレートを守れていない (またはレートの指定がない)。
finding-embedded_database-try = 読み取りはスレッドを増やす。書き込みは 1 回のコミット量を増やすか、ディスクを速くする。同時に書き込むクライアントにはサーバーを使う。
finding-database_cpu-means = データベースのセッションが計算していて、CPU 時間が残っていません。マシンのコアか、クォータを使い切っています。
finding-database_cpu-signs = サーバー内のセッションの { $server } 以上、全体の { $all } 以上が処理中で、マシンのコアの { $full } 以上が使われ、その { $most } 以上がサーバーによる。または、コントロールグループが全時間の { $throttled } 以上止められ、指定の速さに届かない。
finding-database_cpu-try = 軽い実行計画 (インデックス、行を減らす)、生成側を別のマシンへ、コアを増やす、クォータを上げる。
finding-database_lost-means = トランザクションを送っている間に、データベースサーバーがいなくなりました。終了したか、起動し直したか、つながらなくなったかです。
finding-database_lost-signs = サーバーのモニターに応答がなく、負荷のセッションが { $least } 本以上切れた。
finding-database_lost-try = サーバーのログ、メモリー (カーネルが終わらせたかもしれない)、再起動する管理プログラム、そこまでの経路。
finding-lock_chain-means = トランザクションが、ほかが変更してまだコミットしていない行を待っています。すべてが変える行はホットスポットで、1 つずつしか通れません。
finding-lock_chain-signs = 平均で { $least } セッション以上、全体の { $all } 以上がロックを待っている。行を保持する 1 トランザクションあたり { $row } 以上なら、その表を示す。
finding-lock_chain-try = 行を増やす、トランザクションを短くする、競合する行を最後に変える。
finding-cache_miss-means = トランザクションが、データベースのキャッシュにないデータを待っています。
finding-cache_miss-signs = サーバー内のセッションの { $server } 以上、全体の { $all } 以上がデータファイルの読み出しを待ち、サーバーがキャッシュになかった読み出しを数えている。
finding-cache_miss-try = キャッシュを大きくする、データを減らす、速いディスクを使う。
finding-client_bound-means = データベースが負荷のプログラムを待っています。測られた値は生成側の限界です。
finding-client_bound-signs = 閉ループで、セッションの { $idle } 以上がクライアントを待ち、負荷スレッドが時間の { $busy } 以上で動いているか動く用意ができている。
finding-client_bound-try = 負荷のスレッドを増やす、負荷をかけるホストを増やす。
finding-plan_change-means = サーバーが負荷の文を、開始時とは別の実行計画で実行しています。その間に集めた統計、増減した索引、設定の変更により、最も安いとみなす方法が変わりました。
finding-plan_change-signs = 準備した文の実行計画の形を負荷の前後に問い合わせた結果が同じでない。PostgreSQL では値なし、MariaDB と MySQL では各パラメーターを 1 として問い合わせ、存在しない行の計画は数えない。
finding-plan_change-try = 表を満たしたあと負荷の前に ANALYZE し、測り直してください。
finding-checkpoint_dip-means = チェックポイントの間、トランザクションが減りました。同じディスクに書き込みがあり、開始後に変更された各ページは全体がログに書かれるためです。
finding-checkpoint_dip-signs = チェックポイントのある { $least } 秒以上で、ない秒 (同じ数以上) に対するレートが { $dip } を下回り、差が両者のばらつきより大きい。
finding-checkpoint_dip-try = チェックポイントの間隔を広げ、書き込みを分散する。ログを別のディスクに置く。
