# Messages of the report: report-<section>-<meaning>.

report-why = Why
report-count-samples = n = { $n }
