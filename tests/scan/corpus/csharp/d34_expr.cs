using System;
using System.Linq.Expressions;
using System.Reflection.Emit;

class X {
	void Go() {
		Expression.Lambda<Func<int>>(Expression.Constant(1)).Compile()(); // FIND: csharp.dynamic-code
		var m = new DynamicMethod("a", typeof(int), null); // FIND: csharp.dynamic-code
		m.GetILGenerator().Emit(OpCodes.Ret); // FIND: csharp.dynamic-code
		AppDomain.CurrentDomain.Load(new byte[0]); // FIND: csharp.dynamic-code
	}
}
