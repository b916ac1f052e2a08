# Messages of the diagnosis rules, checks and the verdict.
