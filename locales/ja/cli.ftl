# Messages of the command line. Keys: cli-<place>-<meaning>.

cli-phase-datagram = 到着 { $rate } ({ $bits })、損失 { $loss }
cli-interim = 到着 { $delivered } データグラム、現在 { $bits }
cli-phase-answers = 毎秒の応答数 { $rate }、中央値 { $p50 }、99 % が { $p99 } 以内

## Load curves
cli-sweep = { $option } を { $first } から { $last } まで { $n } 段階で測定します。所要時間は約 { $total } です
cli-sweep-counted = { $option } を { $first } から { $last } まで { $n } 段階で測定します。各段階は指定回数に達すると終わります
