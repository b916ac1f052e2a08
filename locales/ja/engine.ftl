# Messages of the controller, the agents and the workloads: notes, problems, events. Keys: engine-<place>-<meaning>.

engine-bus-notes-dropped = 計測値の受け渡しが間に合わず、この時点でこのホストのメッセージ { $count } 件が失われました。
engine-bus-notes-dropped-missing = 計測値・分布・イベントを含むメッセージ { $count } 件

engine-doing-environment = すべてのホストの環境を記録しています
engine-doing-selftest = このホストの送受信能力を調べています

engine-check-namespaces = { $n } 台のホストは、この 1 台のマシン上のネットワーク名前空間をブリッジでつないだものです。数値が示すのはこのマシンとカーネルの能力で、マシン間のネットワークの能力ではありません。
engine-check-loopback = ネットワーク名前空間を作れなかったため ({ $why })、{ $n } 台のホストはこのマシンのループバックアドレスです。{ $hint }
engine-check-group = { $hosts } 台のホストが { $rounds } 回戦で総当たりします (向きのある組 { $pairs }): { $load } のフェーズ { $phases } 個、全部で約 { $time } です。
engine-check-group-corrected = これらのホストでは 1 フェーズに負荷のほか { $beside } かかります。{ $all } ラウンドのうち { $rounds }、{ $load } のフェーズが { $phases } 個、合わせて約 { $time } です。
engine-check-mesh-failed = 全ホスト同時の { $layer } は測定できませんでした: { $why }。
engine-check-group-some = 時間が足りないため (--within)、{ $hosts } 台のホストは { $all } 回戦のうち { $rounds } 回戦だけ行います (向きのある組 { $pairs }): { $load } のフェーズ { $phases } 個、全部で約 { $time } です。

engine-clock-jump = { $host } の時計が { $by } 変更されました。時系列は単調時計を使うので影響を受けません。
engine-host-stall = { $host } が { $by } 停止していました。
engine-host-heard = { $host } から再び届くようになりました。
engine-host-suspect = { $host } から { $silent } の間何も届いていません。失われた可能性があります。
engine-host-given-up = { $host } は失われたものとしました。
engine-host-lost = { $host } との接続が失われました: { $why }
engine-host-lost-missing = { $host } の最後の報告より後の測定値がありません。
engine-no-result = { $host } から結果が得られませんでした: { $why }
engine-notes-dropped = ホストからの報告 { $n } 件が記録に間に合わず、失われました。
engine-interrupted = 測定が中断されました。
engine-interrupted-missing = 中断より後に測定するはずだったものがありません。
engine-not-reached = { $host } に接続できないため、それ抜きで続けます: { $why }
engine-ended-by = 測定が途中で終わりました: { $why }
engine-phase-bound = 測定が { $bound } 以内に終わらなかったため、打ち切りました。


store-recovered-says = 記録中にプログラムが異常終了しました。報告 { $batches } 件から記録を復元しました (最後の報告は { $last })。
store-recovered-missing = 最後の報告より後の測定値と結果がありません。
store-spool-damaged-says = 記録が破損していました: { $gaps } 箇所、{ $bytes } を読めませんでした。
store-samples-missing = その間の時系列が欠けています。
store-disk-full-says = ディスクがいっぱいで、報告 { $batches } 件を記録できませんでした。
store-write-failed-says = ディスクへの書き込みが拒否され、報告 { $batches } 件を記録できませんでした。

engine-foreign-wire = 相手側は別のツールの形式で通信し、その数値はこちらに届きません。最初に届いたデータグラムより前と、最後より後の損失は分かりません。
engine-sweep-step-failed = { $value } の段階では数値が得られませんでした: { $why }
engine-knee-run-failed = ユーザー { $value } の実行は数値を出しませんでした: { $why }
out-down = { $place } がサンプルを受け取りません: { $why }。実行は続き、記録にはすべて残ります。
out-lost = { $place } は { $all } サンプルのうち { $lost } サンプルを受け取りませんでした: { $why }。記録にはすべて残っています。
out-queue-full = { $place } は { $all } サンプルのうち { $lost } サンプルを受け取りませんでした: 受け取りが遅すぎました。記録にはすべて残っています。
engine-rrul-failed = 区間 { $value } から数値を得られませんでした: { $why }
engine-knobs-set = ターゲットの設定: { $changes }
engine-knobs-put-back = 設定を元に戻しました: { $changes }
engine-settings-set = データベースサーバーの設定: { $settings }
engine-settings-put-back = データベースサーバーの設定を元に戻しました: { $settings }
engine-settings-not-put-back = データベースサーバーの設定を元に戻せませんでした: { $why }。データベースを使う次のコマンドが再び試みます。
engine-knobs-not-put-back = ターゲットの設定を元に戻せませんでした: { $why }。5 秒間応答がなければターゲット自身が元に戻します。
engine-protect-no-knee = 範囲内に屈曲点がないため、上限は試していません。
engine-protect-refused = 上限を試せませんでした: { $why }。
engine-versus-run-failed = 実行 { $value } は数値を出しませんでした: { $why }
engine-repeat-failed = { $value } 回目の測定では数値が得られませんでした: { $why }
engine-search-too-slow = { $bounds } には 1 回の試行に { $samples } 件のリクエストが必要で、{ $rate } では { $needed } かかるため、探索をここで終えました。--duration { $needed } を指定するか、より低いパーセンタイルに限度を置いてください

engine-probe-one-clock = 両端は同じ時計を使うため、片道遅延に時計の誤差はありません。
engine-probe-clock = 片道遅延の誤差は { $error } 以内です（負荷の前後で比較した時計の精度）。
engine-probe-clock-some = 片道遅延の誤差は { $error } 以内です（時計を比較した精度）。これより小さい片道遅延は結果とは言えないため、表示しません。
engine-probe-clock-none = 片道遅延は、時計を比較した誤差 { $error } より小さいため表示しません。往復時間と変動は、共通の時計がなくても正しい値です。
engine-probe-no-clock = ホストの時計を比較できなかったため、片道遅延は表示しません。往復時間と変動は、共通の時計がなくても正しい値です。
engine-probe-program-stamps = 一部の到着時刻は、カーネルではなくプログラムが記録しました。その遅延には、スレッドが起きるまでの時間が含まれます。
import-iperf3-note = { $version } の結果を取り込みました。sokudo の測定より情報が少なく、各区間は片側から見た値のみで、時計の誤差やホストの状態は含まれません。
import-iperf3-error = iperf3 の報告: { $error }

engine-steered = 実行中に負荷が変更されました: ユーザー { $users }、毎秒のリクエスト { $rate }。
engine-steer-refused = { $host } は負荷を変更しませんでした: { $why }
engine-quiet-phases = フェーズは静かに行われました。負荷をかけているあいだは負荷のほか何も流れず、各ホストは記録した内容をそのあとで渡しました。
engine-skew-repeated = { $phase } を繰り返しました。フローの開始が { $spread } ずれ、{ $max } を超えたためです。
engine-clock-step = { $host } の時計が、このホストに対して比較と比較のあいだに { $by } 動きました。その前後では、複数のホストの数値は同じ時間軸に乗りません。
engine-unheard = このホストからの報告が多すぎるため、{ $count } 件を省きました。
engine-not-its-own = このホストは、自身のものでない値、または実行中のどの時点にも属さない値を { $count } 件送りました。これらは省きました。

engine-monitor-missing = モニター { $monitor } は { $host } を観測していません: { $why }
engine-monitor-unanswered = { $host } のモニター { $monitor } の観測先は、観測の終了までに { $time } 応答していませんでした。
engine-process-none = { $host }: { $by } に一致するプロセスがありません。
engine-process-found = { $host }: プロセス { $pid } ({ $name }) が { $by } に一致しました。
engine-process-ended = { $host }: { $by } で選ばれたプロセス { $pid } ({ $name }) が終了しました。
engine-process-cut = { $host }: { $by } に一致するプロセスは { $n } 個あり、そのうち { $most } 個を観測します。
engine-process-unreadable = { $host }: プロセス { $pid } ({ $name }、{ $by }) の開いているファイルとストレージの値を読み取れません: { $why }
engine-scrape-failed = { $host }: { $endpoint } から { $time } 経ってもメトリクスが得られません: { $why }
engine-scrape-answers = { $host }: { $endpoint } が再び応答しました。{ $time } の間に { $n } 回の取得でメトリクスが得られませんでした。
engine-scrape-unresolved = 名前を解決できません: { $why }
engine-scrape-unconnected = 接続できません: { $why }
engine-scrape-silent = 時間内に応答がありませんでした。
engine-scrape-broken = 接続が切れました: { $why }
engine-scrape-status = 状態コード { $status } が返されました。
engine-scrape-redirect = 状態コード { $status } が返されました。リダイレクトには従いません。
engine-scrape-not-http = 応答が HTTP ではありません: { $why }
engine-scrape-too-long = 応答が { $most } を超えています。
engine-mapping-missing = { $host }: マッピングにある項目が { $endpoint } の応答にありません: { $names }
engine-scrape-garbage = 応答の { $line } 行目はメトリクスではありません: { $why }
engine-database-denied = サーバーがユーザーを拒否しました: { $why }
engine-database-full = サーバーにセッションの空きがありません: { $why }
engine-database-refused = サーバーが問い合わせを拒否しました: { $why }
engine-server-stats = サーバー側の値も、モニター `{ $monitor }` がセッションを 1 つ追加して記録します。--no-server-stats で止められます。
