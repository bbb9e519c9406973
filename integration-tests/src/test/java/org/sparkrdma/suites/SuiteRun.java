// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.time.Duration;
import java.util.List;

/**
 * One suite under one setting.
 *
 * @param suiteClass the ScalaTest class
 * @param setting the shuffle it runs under
 * @param filters parts of the names of the tests to run; empty for all
 * @param limit after which the JVM is killed and the run has failed
 * @param readsRemote whether it has tests on clusters whose executors fetch blocks of each other
 */
record SuiteRun(
    String suiteClass, Setting setting, List<String> filters, Duration limit, boolean readsRemote) {

  private static final Duration USUAL_LIMIT = Duration.ofMinutes(15);

  SuiteRun {
    filters = List.copyOf(filters);
  }

  static SuiteRun of(String suiteClass, Setting setting) {
    return new SuiteRun(suiteClass, setting, List.of(), USUAL_LIMIT, true);
  }

  /** Of the tests only those whose name contains one of these. */
  SuiteRun only(String... nameContains) {
    return new SuiteRun(suiteClass, setting, List.of(nameContains), limit, readsRemote);
  }

  SuiteRun within(Duration newLimit) {
    return new SuiteRun(suiteClass, setting, filters, newLimit, readsRemote);
  }

  /** Of tests that fetch no block of another executor, which the run then verifies. */
  SuiteRun withoutRemoteBlocks() {
    return new SuiteRun(suiteClass, setting, filters, limit, false);
  }

  /** The class's simple name, without the prefix that our thin subclasses bear. */
  String suite() {
    String simple = suiteClass.substring(suiteClass.lastIndexOf('.') + 1);
    return simple.startsWith("Rdma") ? simple.substring("Rdma".length()) : simple;
  }

  /** Unique among the runs; fit for a directory's name. */
  String label() {
    return suite() + "-" + setting.label();
  }
}
