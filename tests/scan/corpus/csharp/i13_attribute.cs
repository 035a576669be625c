using System;
[AttributeUsage(AttributeTargets.Class)]
class ImportantAttribute : Attribute { }
[Important, Serializable]
class Marked { [Obsolete("use another")] public void Old() { } }
