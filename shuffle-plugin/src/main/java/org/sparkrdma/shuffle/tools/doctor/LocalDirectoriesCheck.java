// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.pinned.Mounts;

/** File system of each local directory, and whether a file there could be registered. */
final class LocalDirectoriesCheck implements Check {
  static final String ADVICE = "use ext4 or xfs for spark.local.dir, and a directory that exists";

  @Override
  public String name() {
    return "local directories";
  }

  @Override
  public List<Finding> run(Facts facts) {
    Mounts mounts = Mounts.of(facts.files());
    List<Finding> findings = new ArrayList<>();
    for (Path directory : facts.localDirectories()) {
      String words = directory + " is on " + mounts.holding(directory).type() + ".";
      Optional<String> refusal = facts.probe().directories().get(directory);
      if (refusal == null) {
        findings.add(
            Finding.note(
                words
                    + " No file was registered there: no device was opened, or blocks are always copied.",
                "run this again when a device can be used; with spark.shuffle.rdma.serve=copy, nothing"));
      } else if (refusal.isPresent()) {
        findings.add(
            Finding.warning(
                words + " Files there are not registered, so blocks are copied: " + refusal.get(),
                ADVICE));
      } else {
        findings.add(Finding.ok(words + " A file there was registered."));
      }
    }
    return findings;
  }
}
