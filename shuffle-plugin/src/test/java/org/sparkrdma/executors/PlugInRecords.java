// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * The leak records of the plug-in, which another class loader may have loaded than this class:
 * executors load the plug-in from {@code spark.jars}. Stateless.
 */
final class PlugInRecords {
  private static final String NAME = "org.sparkrdma.leak.LeakRecord";

  private final Class<?> type;

  private PlugInRecords(Class<?> type) {
    this.type = type;
  }

  /** The records of the plug-in that a class loader finds; null when it finds none. */
  static PlugInRecords of(ClassLoader loader) {
    try {
      return new PlugInRecords(Class.forName(NAME, true, loader));
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  boolean areKept() {
    return (boolean) call("isEnabled", null);
  }

  /** The stack of the acquisition of each outstanding resource. */
  List<Throwable> outstanding() {
    List<Throwable> sites = new ArrayList<>();
    for (Object one : (List<?>) call("outstanding", null)) {
      sites.add((Throwable) call("site", one));
    }
    return sites;
  }

  private Object call(String method, Object on) {
    try {
      Method found = type.getMethod(method);
      return found.invoke(on);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot call method=" + method, e);
    }
  }
}
