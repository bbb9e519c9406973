// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Loads the binding in class loaders like Spark's, in a separate JVM, and prints each outcome. */
final class JffiProbe {
  private static final String BINDING = "org.sparkrdma.verbs.ibverbs.ffi.Binding";

  private JffiProbe() {}

  /** Loads the classes of its own jars before those of its parent, as userClassPathFirst does. */
  private static final class ChildFirst extends URLClassLoader {
    ChildFirst(URL[] urls, ClassLoader parent) {
      super(urls, parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
          return loaded;
        }
        try {
          return findClass(name);
        } catch (ClassNotFoundException e) {
          return super.loadClass(name, resolve);
        }
      }
    }
  }

  /** Arguments: the kind of class loader, then its jars. */
  public static void main(String[] arguments) throws IOException {
    ClassLoader system = ClassLoader.getSystemClassLoader();
    URL[] jars = jars(arguments);
    List<ClassLoader> loaders = new ArrayList<>();
    switch (arguments[0]) {
      case "system" -> loaders.add(system);
      case "parentFirst" -> loaders.add(new URLClassLoader(jars, system));
      case "childFirst" -> loaders.add(new ChildFirst(jars, system));
      case "siblings" -> {
        loaders.add(new ChildFirst(jars, system));
        loaders.add(new ChildFirst(jars, system));
        // Each loader finds the other's jffi through the thread's context class loader.
        Thread.currentThread().setContextClassLoader(loaders.get(1));
      }
      default -> throw new IllegalArgumentException("no such kind: " + arguments[0]);
    }
    loaders.forEach(loader -> System.out.println(outcome(loader)));
  }

  private static URL[] jars(String[] arguments) throws MalformedURLException {
    URL[] jars = new URL[arguments.length - 1];
    for (int i = 0; i < jars.length; i++) {
      jars[i] = Path.of(arguments[i + 1]).toUri().toURL();
    }
    return jars;
  }

  private static String outcome(ClassLoader loader) {
    try {
      Class<?> binding = Class.forName(BINDING, true, loader);
      binding.getMethod("check").invoke(null);
      return "works: " + binding.getMethod("name").invoke(null);
    } catch (InvocationTargetException e) {
      boolean expected =
          e.getCause().getClass().getSimpleName().equals("EngineUnavailableException");
      return (expected ? "unavailable: " : "failed: ") + e.getCause();
    } catch (ReflectiveOperationException | LinkageError e) {
      return "failed: " + e;
    }
  }
}
