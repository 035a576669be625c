; id: python.deserialize
; severity: warning
; message: reads a format that can run code
; sandbox: Whoever wrote the file decides what runs: the file is code, wherever it comes from.
((call function: (_) @name) @found
 (#resolves? @name "pickle.load" "pickle.loads" "pickle.Unpickler" "cPickle.load" "cPickle.loads" "_pickle.load" "_pickle.loads" "dill.load" "dill.loads" "cloudpickle.load" "cloudpickle.loads" "joblib.load" "shelve.open" "jsonpickle.decode" "pandas.read_pickle" "yaml.unsafe_load" "yaml.full_load" "sklearn.externals.joblib.load"))
((call function: (_) @name arguments: (_) @words) @found
 (#resolves? @name "yaml.load" "yaml.load_all") (#not-match? @words "SafeLoader|BaseLoader"))
((call function: (_) @name arguments: (_) @words) @found
 (#resolves? @name "torch.load") (#not-match? @words "weights_only *= *True"))
((call function: (_) @name arguments: (_) @words) @found
 (#resolves? @name "numpy.load") (#match? @words "allow_pickle *= *True"))
