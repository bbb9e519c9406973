// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.util.List;
import java.util.Set;

/**
 * Suites under one setting, in one JVM.
 *
 * @param suiteClasses the ScalaTest classes, in their order; several save starts of a JVM
 * @param setting of the shuffle
 * @param readsRemote whether some tests fetch blocks between executors
 * @param smallDisk whether it runs with a {@link SmallDisk}, where that is allowed
 */
record SuiteRun(
    List<String> suiteClasses, Setting setting, boolean readsRemote, boolean smallDisk) {
  SuiteRun {
    suiteClasses = List.copyOf(suiteClasses);
  }

  static SuiteRun of(String suiteClass, Setting setting) {
    return of(List.of(suiteClass), setting);
  }

  static SuiteRun of(List<String> suiteClasses, Setting setting) {
    return new SuiteRun(suiteClasses, setting, true, false);
  }

  /** The same with those of its suites that have one of these names. */
  SuiteRun withSuites(Set<String> names) {
    List<String> selected =
        suiteClasses.stream().filter(suiteClass -> names.contains(nameOf(suiteClass))).toList();
    return new SuiteRun(selected, setting, readsRemote, smallDisk);
  }

  /** Declares that no test fetches a block of another executor, which the run verifies. */
  SuiteRun withoutRemoteBlocks() {
    return new SuiteRun(suiteClasses, setting, false, smallDisk);
  }

  /** Gives its processes a small file system, which its tests may fill. */
  SuiteRun withSmallDisk() {
    return new SuiteRun(suiteClasses, setting, readsRemote, true);
  }

  /** The simple names of its classes, without the prefix of this project's subclasses. */
  List<String> suites() {
    return suiteClasses.stream().map(SuiteRun::nameOf).toList();
  }

  private static String nameOf(String suiteClass) {
    String simple = suiteClass.substring(suiteClass.lastIndexOf('.') + 1);
    return simple.startsWith("Rdma") ? simple.substring("Rdma".length()) : simple;
  }

  /** A unique name, also used for the run's directory. */
  String label() {
    return label(suiteClasses.get(0));
  }

  /** The name of one of its suites. */
  String label(String suiteClass) {
    return nameOf(suiteClass) + "-" + setting.label();
  }
}
