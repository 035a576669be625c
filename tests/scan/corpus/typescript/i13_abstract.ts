abstract class Job {
  abstract spawn(): Job;
  protected fork(): number { return 1; }
}
class Small extends Job {
  spawn(): Job { this.fork(); return new Small(); }
}
new Small().spawn();
