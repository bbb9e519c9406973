// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;

/**
 * Prints one line for each finished task of the jobs that run, for the launcher of the application.
 * Jobs that overlap, such as those of one adaptive query, are counted together.
 *
 * <p>Confined to Spark's listener thread.
 */
public final class TaskProgress extends SparkListener {
  private static final String JOB_DESCRIPTION = "spark.job.description";

  /** Index of the stages among the fields of SparkListenerJobStart. */
  private static final int STAGE_INFOS = 2;

  private final Consumer<ProgressLog.Line> lines;
  private final Set<Integer> runningJobs = new HashSet<>();
  private String phase = "";
  private int tasksDone;
  private int tasksTotal;

  /**
   * @param lines is given one line per finished task
   */
  public TaskProgress(Consumer<ProgressLog.Line> lines) {
    this.lines = lines;
  }

  @Override
  public void onJobStart(SparkListenerJobStart start) {
    phase = start.properties().getProperty(JOB_DESCRIPTION, "job");
    if (runningJobs.isEmpty()) {
      tasksDone = 0;
      tasksTotal = 0;
    }
    runningJobs.add(start.jobId());
    tasksTotal += taskCount(start);
    print();
  }

  @Override
  public void onJobEnd(SparkListenerJobEnd end) {
    runningJobs.remove(end.jobId());
  }

  /** The accessor of the stages returns another type in Scala 2.12 than in 2.13. */
  private static int taskCount(SparkListenerJobStart start) {
    int tasks = 0;
    var stages = ((scala.collection.Seq<?>) start.productElement(STAGE_INFOS)).iterator();
    while (stages.hasNext()) {
      tasks += ((StageInfo) stages.next()).numTasks();
    }
    return tasks;
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskInfo().successful()) {
      tasksDone++;
      print();
    }
  }

  private void print() {
    lines.accept(new ProgressLog.Line(phase, tasksDone, tasksTotal, "tasks"));
  }
}
