# レポートの文言: report-<節>-<意味>

report-why = 理由
report-count-samples = n = { $n }
