// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.time.Duration;
import java.util.List;

/**
 * One suite under one setting.
 *
 * @param suiteClass the ScalaTest class
 * @param setting of the shuffle
 * @param filters parts of the names of the tests to run; empty for all
 * @param limit time after which the JVM is killed and the run fails
 * @param readsRemote whether some tests fetch blocks between executors
 * @param smallDisk whether it runs with a {@link SmallDisk}, where that is allowed
 */
record SuiteRun(
    String suiteClass,
    Setting setting,
    List<String> filters,
    Duration limit,
    boolean readsRemote,
    boolean smallDisk) {

  private static final Duration USUAL_LIMIT = Duration.ofMinutes(15);

  SuiteRun {
    filters = List.copyOf(filters);
  }

  static SuiteRun of(String suiteClass, Setting setting) {
    return new SuiteRun(suiteClass, setting, List.of(), USUAL_LIMIT, true, false);
  }

  /** Selects the tests whose name contains one of these texts. */
  SuiteRun only(String... nameContains) {
    return new SuiteRun(suiteClass, setting, List.of(nameContains), limit, readsRemote, smallDisk);
  }

  SuiteRun within(Duration newLimit) {
    return new SuiteRun(suiteClass, setting, filters, newLimit, readsRemote, smallDisk);
  }

  /** Declares that no test fetches a block of another executor, which the run verifies. */
  SuiteRun withoutRemoteBlocks() {
    return new SuiteRun(suiteClass, setting, filters, limit, false, smallDisk);
  }

  /** Gives its processes a small file system, which its tests may fill. */
  SuiteRun withSmallDisk() {
    return new SuiteRun(suiteClass, setting, filters, limit, readsRemote, true);
  }

  /** The class's simple name, without the prefix of this project's subclasses. */
  String suite() {
    String simple = suiteClass.substring(suiteClass.lastIndexOf('.') + 1);
    return simple.startsWith("Rdma") ? simple.substring("Rdma".length()) : simple;
  }

  /** A unique name, also used for the run's directory. */
  String label() {
    return suite() + "-" + setting.label();
  }
}
