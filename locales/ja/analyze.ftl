# 診断ルール、検査、結論の文言
# キー: rule-<ルール>-says と -next、evidence-<意味>、check-<名前>-held と -failed、verdict-<意味>
# 数値は単位付きの文字列として渡される。データグラムのレートは "6.41 M/s" の形

## 結論

verdict-best = { $flows }: 維持できる最高レートは { $bits }（データグラム { $packets }）です。確認のための再測定での損失は { $loss } でした。
verdict-paced-loss = { $flows }: { $bits } が届きました（データグラム { $packets }、指定 { $asked }）。送信した { $sent } 個のうち { $loss } が失われました。
verdict-paced-lossless = { $flows }: { $bits } が届きました（データグラム { $packets }、指定 { $asked }）。送信した { $sent } 個に損失はありません。
verdict-unlimited-loss = { $flows }: 最大速度で送信し、{ $bits } が届きました（データグラム { $packets }）。送信した { $sent } 個のうち { $loss } が失われました。
verdict-unlimited-lossless = { $flows }: 最大速度で送信し、{ $bits } が届きました（データグラム { $packets }）。送信した { $sent } 個に損失はありません。
verdict-one-pair = { $from } → { $to }
verdict-many-flows = { $count } 本のフローの合計
verdict-whole-run = 測定全体
verdict-not-reached = 指定したレートは維持できており、限界には達していません。限界を知るには、レートを上げるか、指定を外してください。
verdict-undetermined = 原因は特定できません。読み取れたカウンターの中に、このレートの限界を説明するものはありません。
verdict-undetermined-lacking = 原因は特定できません。読み取れたカウンターの中に、このレートの限界を説明するものはありません。この環境で取得できなかった項目: { $names }
verdict-nothing = 測定結果がありません。データグラムを送信したフェーズが 1 つもありません。
verdict-failed = 測定は失敗しました: { $problem }
verdict-failed-unknown = 測定は失敗しました。原因は記録に残っていません。
verdict-partial = 結果の一部が欠けています: { $problem }
verdict-partial-unknown = 結果の一部が欠けています。原因は記録に残っていません。
verdict-distrust = この数値は信頼できません: { $check }

## 検査

check-complete-held = { $phase }: { $flows } 本のフローすべてについて、両端の数値がそろっています。
check-complete-failed = { $phase }: 両端の数値がそろっているのは { $flows } 本のフローのうち { $complete } 本だけです。
check-accounting-held = { $phase }: 受信数と欠落数の合計は、送信数 { $wanted } と一致しています。
check-accounting-failed = { $phase }: 受信数と欠落数の合計は { $seen } ですが、送信数は { $wanted } です。フローごとの差の合計は { $off } です。
check-attribution-held = { $phase }: 欠落したデータグラム（計 { $wanted }）は、すべて失われた場所に割り当てられています。
check-attribution-failed = { $phase }: 場所が割り当てられた損失は { $seen } ですが、欠落数は { $wanted } です。フローごとの差の合計は { $off } です。

## ルール

rule-buffer-below-asked-receive-says = { $host } で確保できた受信バッファは { $granted } で、要求した { $asked } に足りません。
rule-buffer-below-asked-send-says = { $host } で確保できた送信バッファは { $granted } で、要求した { $asked } に足りません。
rule-buffer-below-asked-next = { $host } で次を実行してください: sysctl -w { $setting }={ $bytes }

rule-corruption-says = { $count } 個のデータグラムが壊れて届きました。最も多いのは { $host } です。UDP チェックサムでは検出されていません。
rule-corruption-next = { $host } のチェックサムオフロードを無効にして再測定してください。起きなくなれば、ネットワークデバイスかドライバーがデータを壊しています。

rule-duplicates-says = { $count } 個のデータグラムが重複して届きました（送信数の { $share }）。最も多いのは { $host } です。
rule-duplicates-next = { $host } の手前に、ブリッジのループ、ミラーポート、ブロードキャストモードのボンディングがないか確認してください。

rule-generator-limited-short-says = 送信側が限界です。指定した { $asked } に対し、送信できたデータグラムは { $sent } でした。最も遅れているのは { $host } です。
rule-generator-limited-late-says = { $host } は送信予定を守れていません。データグラムの { $share } が予定より 1 ms 以上遅れて送信されました。
rule-generator-limited-paced-next = レートを下げるか、データグラムを大きくするか、{ $host } の送信ストリーム数（--streams）を増やしてください。
rule-generator-limited-busy-says = 送信側が限界です。{ $host } の送信スレッドが 1 コアの { $cpu } を使い、損失はほぼありません。ネットワークと受信側は、少なくともこのレートを処理できます。
rule-generator-limited-busy-next = ネットワークや受信側の限界を知るには、{ $host } の送信ストリーム数（--streams）を増やすか、データグラムを大きくしてください。

rule-host-busy-wait-says = { $host } は混み合っていました。測定のスレッドが、実行可能なのに CPU を得られない時間が { $share } ありました。
rule-host-busy-steal-says = { $host } は仮想マシンで、CPU 時間の { $share } がハイパーバイザーによって他に割り当てられました。
rule-host-busy-pressure-says = { $host } は混み合っていました。CPU を待つタスクのある時間が { $share } を占めました。
rule-host-busy-next = { $host } の他の処理を止めるか、測定で使うスレッド数より多いコアを割り当てて、再測定してください。
rule-host-busy-steal-next = { $host } を動かす物理マシンが空いているとき、または専有コアで再測定し、結果を比べてください。

rule-low-mtu-says = { $from } → { $to } で運べるパケットは最大 { $mtu } B で、イーサネットの 1500 B より小さいため、同じ量を送るのにより多くのデータグラムが必要です。
rule-low-mtu-next = トンネルや VPN を使っていなければ、経路上に MTU の小さいインターフェースがないか確認してください。
rule-low-mtu-fragments-says = { $size } のデータグラムは、{ $from } → { $to } の経路 MTU { $mtu } B に収まりません。1 個が { $pieces } 個のフラグメントに分かれ、1 つ失うと全体が失われます。
rule-low-mtu-fragments-next = --size { $size } 以下にするか、経路全体の MTU を大きくしてください。

rule-path-loss-says = 経路が限界です。失われたデータグラムの { $share } は { $from } と { $to } の間で消えており、どちらのホストのカウンターにも現れていません。
rule-path-loss-device-says = 経路が限界です。失われたデータグラムの { $share } は { $from } と { $to } のソケットの間で消えており、その間に途中の破棄カウンターが増えています。
rule-path-loss-undetermined-says = 原因は特定できません。失われたデータグラムの { $share } は { $from } と { $to } の間で消えています。この環境で取得できなかった項目: { $names }
rule-path-loss-next = { $from } → { $to } のレートを下げて再測定してください。損失が残れば回線、なくなれば途中のキューあふれが疑われます。

rule-receiver-buffer-overflow-says = 受信側が限界です。失われたデータグラムの { $share } は { $host } のソケットバッファで破棄されました。
rule-receiver-buffer-overflow-short-says = 受信側が限界です。失われたデータグラムの { $share } は { $host } のソケットバッファ（確保 { $granted }、要求 { $asked }）で破棄されました。
rule-receiver-buffer-overflow-next = { $host } の受信バッファ（--rcvbuf）を大きくするか、レートを下げてください。
rule-receiver-buffer-overflow-short-next = { $host } の net.core.rmem_max を { $bytes } 以上にするか、レートを下げてください。
rule-receiver-buffer-overflow-busy-next = { $host } の受信スレッドには余裕がありません。ストリーム数（--streams）を増やして負荷を分散するか、レートを下げてください。
rule-receiver-buffer-overflow-search-next = 最大速度の送信に { $host } の受信スレッドが追いついていません。維持できる最高レートを探索するか、ストリーム数（--streams）を増やしてください。
rule-receiver-buffer-overflow-waiting-next = { $host } の受信スレッドは CPU を待たされていました。コアを空けるか、受信バッファ（--rcvbuf）を大きくして待ち時間を吸収してください。

rule-receiver-host-drops-says = 受信側が限界です。失われたデータグラムの { $share } は、{ $host } の内部で、ソケットに届く前に破棄されました。
rule-receiver-host-drops-next = { $host } の net.core.netdev_max_backlog を大きくするか、受信キューをより多くのコアに分散してください。

rule-reordering-says = データグラムの { $share }（計 { $count }）が順序どおりに届きませんでした。最も多いのは { $host } です。
rule-reordering-next = { $host } までの間に、複数の経路やボンディング、1 つのフローを分担する受信キューがないか確認してください。

rule-sender-refusal-says = 送信側が限界です。{ $host } のカーネルが { $count } 個のデータグラム（送信しようとした数の { $share }）を受け付けませんでした。これらはホストから出ていません。
rule-sender-refusal-waited-says = { $host } のカーネルが、空きがないため送信呼び出しを { $count } 回断りました。これによる損失はありません。
rule-sender-refusal-next = { $host } の送信バッファ（--sndbuf）を大きくするか、デバイスのキューを長くするか、レートを下げてください。

## 根拠

evidence-not-available = この環境で取得できなかった項目: { $names }
evidence-buffer-granted = { $host } で確保できたソケットバッファ: { $value }
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
evidence-out-of-order = { $host } に順序どおりに届かなかったデータグラム: { $value }
evidence-path-mtu = { $host } から見た経路 MTU: { $value }
evidence-pressure = { $host } に CPU を待つタスクがあった時間の割合: { $value }
evidence-reassembly-failures = 測定中に { $host } が組み立てられなかったフラグメント: { $value }
evidence-receiver-cpu = { $host } の受信スレッドの CPU 使用率（1 コア = 100 %）: { $value }
evidence-receiver-wait = { $host } の受信スレッドが CPU を待った時間の割合: { $value }
evidence-refused-sends = { $host } で断られた送信呼び出し: { $value }
evidence-reordering-extent = { $host } で、遅れた 1 個を追い越したデータグラムの平均数: { $value }
evidence-self-wait = { $host } の sokudo のスレッドが CPU を待った時間の割合: { $value }
evidence-selftest = { $host } の自己測定（1 スレッド、ループバック）: { $value }
evidence-sender-cpu = { $host } の送信スレッドの CPU 使用率（1 コア = 100 %）: { $value }
evidence-sender-wait = { $host } の送信スレッドが CPU を待った時間の割合: { $value }
evidence-sent-of-asked = 全送信ホストの送信数（最も遅れているのは { $host }）: { $value }、指定 { $asked }
evidence-setting = { $host } の { $setting }: { $value }
evidence-softnet-drops = 測定中に { $host } のコアのバックログで破棄されたパケット: { $value }
evidence-steal = ハイパーバイザーが { $host } から奪った CPU 時間の割合: { $value }
evidence-time-squeezes = 測定中に { $host } の受信処理が時間枠を使い切った回数: { $value }
evidence-udp-in = { $host } のカーネルが全ソケットに渡したデータグラム: { $value }
evidence-udp-receive-errors = { $host } で満杯のソケットに届いたデータグラム（全プログラム）: { $value }
evidence-udp-send-errors = 測定中の { $host } の UDP 送信バッファエラー: { $value }
