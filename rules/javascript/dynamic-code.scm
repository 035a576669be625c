; id: javascript.dynamic-code
; severity: error
; message: runs text as code
; sandbox: What runs is not what stands here: no look at the source says what it does.
((call_expression function: (_) @name) @found
 (#resolves? @name "eval" "eval.call" "eval.apply" "eval.bind" "globalThis.eval" "window.eval" "global.eval" "self.eval" "Function" "Function.call" "Function.apply" "Function.bind" "globalThis.Function" "vm.runIn*" "vm.compileFunction" "vm.Script{}.runIn*" "execScript" "vm2.VM{}.run" "Object.getPrototypeOf().constructor"))
((new_expression constructor: (_) @name) @found
 (#resolves? @name "Function" "globalThis.Function" "vm.Script" "vm.SourceTextModule" "vm2.VM" "vm2.NodeVM" "Object.getPrototypeOf().constructor"))
((call_expression function: (_) @name arguments: (arguments . [(string) (template_string)])) @found
 (#resolves? @name "setTimeout" "setInterval" "window.setTimeout" "window.setInterval"))
; (() => {}).constructor("...")
((call_expression function: (member_expression property: (property_identifier) @name)) @found
 (#eq? @name "constructor"))
((call_expression function: (subscript_expression index: (string) @name)) @found
 (#any-of? @name "'constructor'" "\"constructor\""))
((arguments (identifier) @found) (#resolves? @found "eval"))
((array (identifier) @found) (#resolves? @found "eval"))
((pair value: (identifier) @found) (#resolves? @found "eval"))
((call_expression function: (_) @name arguments: (arguments . (_) @what)) @found
 (#resolves? @name "Reflect.construct" "Reflect.apply") (#resolves? @what "Function" "globalThis.Function"))
