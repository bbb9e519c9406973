// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

/**
 * The driver or an executor of an application, as the name of a file that it writes.
 *
 * @param executorId Spark's id, {@value #DRIVER} for a driver
 */
public record ProcessName(String application, String executorId, long pid) {
  /** The id of a driver, which is its own executor in local mode. */
  public static final String DRIVER = "driver";

  /** The name of this process. */
  public static ProcessName ofThis(String application, String executorId) {
    return new ProcessName(application, executorId, ProcessHandle.current().pid());
  }

  /** Same as {@link #ofThis}, from the name of its file. */
  static ProcessName parse(String fileName) {
    int pid = fileName.lastIndexOf('_');
    int id = fileName.lastIndexOf('_', pid - 1);
    return new ProcessName(
        fileName.substring(0, id),
        fileName.substring(id + 1, pid),
        Long.parseLong(fileName.substring(pid + 1)));
  }

  public boolean isDriver() {
    return executorId.equals(DRIVER);
  }

  String fileName() {
    return application + "_" + executorId + "_" + pid;
  }
}
