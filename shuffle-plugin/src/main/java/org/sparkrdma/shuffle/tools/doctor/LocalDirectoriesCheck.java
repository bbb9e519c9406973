// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.tools.engines.WriteTrial;

/**
 * Whether Spark can write in each local directory, its file system, and whether a file there could
 * be registered. Spark creates a directory that is missing, leaves out one in which it cannot
 * write, and ends an executor that has no other.
 */
final class LocalDirectoriesCheck {
  static final String ADVICE = "use ext4 or xfs for spark.local.dir";

  private static final String OTHER_DIRECTORY =
      "name another directory in spark.local.dir (SPARK_LOCAL_DIRS, or"
          + " yarn.nodemanager.local-dirs on YARN)";

  static List<Finding> run(Facts facts) {
    Mounts mounts = Mounts.of(facts.files());
    List<Finding> findings = new ArrayList<>();
    Map<String, String> withoutPath = facts.directoriesWithoutPath();
    withoutPath.forEach(
        (name, reason) ->
            findings.add(
                Finding.problem(
                    "The local directory " + name + " cannot be tested: " + reason + ".",
                    "set the same locale for Spark's Worker or NodeManager and for this command,"
                        + " or "
                        + OTHER_DIRECTORY)));
    if (withoutPath.isEmpty() && facts.localDirectories().isEmpty()) {
      findings.add(
          Finding.warning(
              "The setting of local directories is empty.",
              "remove it, so that Spark uses its default, or " + OTHER_DIRECTORY));
    }
    for (Path directory : facts.localDirectories()) {
      WriteTrial trial = WriteTrial.in(directory);
      String type = mounts.holding(trial.tested()).type();
      if (!trial.isWritable()) {
        findings.add(unwritable(facts, trial));
      } else if (!trial.exists()) {
        findings.add(
            Finding.note(
                directory + " does not exist. Spark creates it, on " + type + ".",
                "nothing, unless the name is mistyped"));
      } else {
        findings.add(
            registration(
                directory + " is on " + type + ".", facts.probe().directories().get(directory)));
      }
    }
    return findings;
  }

  private static Finding unwritable(Facts facts, WriteTrial trial) {
    String consequence =
        trial.exists()
            ? "Spark cannot write there and leaves it out"
            : "Spark cannot create " + trial.directory() + " and leaves it out";
    consequence += "; without another directory an executor ends.";
    String user = facts.user();
    return switch (trial.outcome()) {
      case NOT_A_DIRECTORY ->
          Finding.problem(trial.tested() + " is not a directory. " + consequence, OTHER_DIRECTORY);
      case READ_ONLY ->
          Finding.problem(
              trial.tested() + " is on a read-only file system. " + consequence,
              "mount it read-write, or " + OTHER_DIRECTORY);
      case NO_PERMISSION ->
          Finding.problem(
              "user="
                  + user
                  + " has no permission to write in "
                  + trial.tested()
                  + ". "
                  + consequence,
              "give the user of executors this permission (chown or chmod), or " + OTHER_DIRECTORY);
      default ->
          Finding.problem(
              "No file can be written in "
                  + (trial.tested() + ": " + trial.reason() + ". ")
                  + consequence,
              OTHER_DIRECTORY);
    };
  }

  /**
   * @param refusal null when no file was registered, empty for success, else the reason
   */
  private static Finding registration(String words, Optional<String> refusal) {
    if (refusal == null) {
      return Finding.note(
          words
              + " No file was registered there: no device was opened, or blocks are always copied.",
          "run this again when a device can be used; with spark.shuffle.rdma.serve=copy, nothing");
    }
    return refusal
        .map(
            reason ->
                Finding.warning(
                    words + " Files there are not registered, so blocks are copied: " + reason,
                    ADVICE))
        .orElseGet(() -> Finding.ok(words + " A file there was registered."));
  }

  private LocalDirectoriesCheck() {}
}
