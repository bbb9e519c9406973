// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.CodeSource;
import java.security.PermissionCollection;
import java.security.Permissions;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;

/**
 * Loads the classes of the plug-in's jar again, with the libraries that only commands need from a
 * jar inside of it: picocli, and SLF4J where Spark is not there to bring it. As plain classes of
 * our jar they could hide those of Spark or of a job.
 */
final class ToolLoader extends URLClassLoader {
  private static final String LIBRARIES = "META-INF/tools/command-libraries.jar";
  private static final String CLASS = ".class";

  static {
    registerAsParallelCapable();
  }

  private final Map<String, byte[]> libraries;

  private ToolLoader(URL jar, ClassLoader parent, Map<String, byte[]> libraries) {
    super(new URL[] {jar}, parent);
    this.libraries = Map.copyOf(libraries);
  }

  /**
   * A loader for the commands, which stays open until the end; the loader of this class where it
   * has the libraries already, in a build.
   */
  static ClassLoader create() throws IOException {
    ClassLoader own = ToolLoader.class.getClassLoader();
    String location =
        ToolLoader.class.getProtectionDomain().getCodeSource().getLocation().toString();
    // The JDK ends the jar's own path at the first "!/", which may be in the name of a folder.
    URL jar = URI.create(location.replace("!/", "%21/")).toURL();
    try (URLClassLoader resources = new URLClassLoader(new URL[] {jar}, null);
        InputStream nested = resources.getResourceAsStream(LIBRARIES)) {
      return nested == null ? own : new ToolLoader(jar, parent(own), classes(nested));
    }
  }

  private static ClassLoader parent(ClassLoader own) {
    try {
      Class.forName("org.slf4j.LoggerFactory", false, own);
      return own;
    } catch (ClassNotFoundException e) {
      // Otherwise SLF4J reports on every run that it has no log to write to.
      System.setProperty("slf4j.internal.verbosity", "ERROR");
      return ClassLoader.getPlatformClassLoader();
    }
  }

  private static Map<String, byte[]> classes(InputStream nested) throws IOException {
    Map<String, byte[]> classes = new HashMap<>();
    try (JarInputStream jar = new JarInputStream(nested)) {
      for (JarEntry entry = jar.getNextJarEntry(); entry != null; entry = jar.getNextJarEntry()) {
        if (entry.getName().endsWith(CLASS)) {
          classes.put(entry.getName(), jar.readAllBytes());
        }
      }
    }
    return classes;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith("org.sparkrdma.") && !name.startsWith("picocli.")) {
      return super.loadClass(name, resolve);
    }
    // Not from the parent: its classes would look for picocli there.
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? findClass(name) : loaded;
    }
  }

  /** Those of the JDK are not asked: their class needs a current directory of this locale. */
  @Override
  protected PermissionCollection getPermissions(CodeSource source) {
    return new Permissions();
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] bytes = libraries.get(name.replace('.', '/') + CLASS);
    return bytes == null ? super.findClass(name) : defineClass(name, bytes, 0, bytes.length);
  }
}
