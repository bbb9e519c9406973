// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Loads the binding in class loaders like Spark's, in a separate JVM, calls a library through it
 * after a garbage collection, and prints each outcome.
 */
final class JffiProbe {
  private static final String PACKAGE = "org.sparkrdma.verbs.ibverbs.ffi.";

  /** A library of glibc that the JVM itself does not load, and a function without arguments. */
  private static final String LIBRARY = "libthread_db.so.1";

  private static final String FUNCTION = "td_init";

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
      Class.forName(PACKAGE + "JffiLibrary", true, loader).getMethod("check").invoke(null);
      long function = address(loader);
      collectGarbage();
      if (!isLoaded()) {
        return "failed: unloaded " + LIBRARY;
      }
      int result = call(loader, function);
      return result == 0 ? "works" : "failed: " + result;
    } catch (InvocationTargetException e) {
      boolean expected =
          e.getCause().getClass().getSimpleName().equals("EngineUnavailableException");
      return (expected ? "unavailable: " : "failed: ") + e.getCause();
    } catch (ReflectiveOperationException | LinkageError | IOException e) {
      return "failed: " + e;
    }
  }

  /** Address of the function; nothing else of the library stays reachable from here. */
  private static long address(ClassLoader loader) throws ReflectiveOperationException {
    Class<?> symbols = Class.forName(PACKAGE + "Symbols", true, loader);
    Method open = symbols.getDeclaredMethod("open", String.class);
    open.setAccessible(true);
    Method get = symbols.getDeclaredMethod("get", String.class);
    get.setAccessible(true);
    return (long) get.invoke(open.invoke(null, LIBRARY), FUNCTION);
  }

  private static int call(ClassLoader loader, long function) throws ReflectiveOperationException {
    Method call =
        Class.forName(PACKAGE + "SetUpCalls", true, loader)
            .getDeclaredMethod("callInt", long.class, long[].class);
    call.setAccessible(true);
    return (int) call.invoke(null, function, new long[0]);
  }

  /** Collects until a new object was collected, and runs finalizers; twice. */
  private static void collectGarbage() {
    for (int i = 0; i < 2; i++) {
      var collected = new WeakReference<>(new Object());
      while (collected.get() != null) {
        System.gc();
      }
      System.runFinalization();
    }
  }

  private static boolean isLoaded() throws IOException {
    try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
      return mappings.anyMatch(mapping -> mapping.endsWith(LIBRARY));
    }
  }
}
