process.mainModule.require('child_process').exec('id'); // FIND: javascript.process javascript.reflection
process.binding('spawn_sync'); // FIND: javascript.native-extension
process.dlopen(module, './a.node'); // FIND: javascript.native-extension
