// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassVisitor;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.FieldVisitor;
import org.apache.xbean.asm9.MethodVisitor;
import org.apache.xbean.asm9.Opcodes;

/**
 * The class path of the test with one class of Spark altered, and the plug-in's classes once more,
 * which are linked to it.
 */
public class AlteredSpark extends URLClassLoader {
  private static final String PLUG_IN = "org.sparkrdma.";

  /** Name of a class whose file is altered. */
  private final String altered;

  private final Change change;

  /** What a version of Spark may do to a class. */
  public enum Change {
    NONE,
    /** Has no such class. */
    NO_CLASS,
    /** Has given all methods and fields other names. */
    RENAMED,
    /** Has made instance methods of static ones, and the reverse. */
    STATIC,
    /** Has one more method, which must be implemented. */
    ABSTRACT,
    /** Has one more method, which subclasses must implement. */
    PROTECTED,
    /** Has one more method. */
    CONCRETE
  }

  public AlteredSpark(String altered, Change change) {
    super(classPath(), AlteredSpark.class.getClassLoader());
    this.altered = altered;
    this.change = change;
  }

  private static URL[] classPath() {
    String entries =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Stream.of(entries.split(File.pathSeparator, -1))
        .map(AlteredSpark::url)
        .toArray(URL[]::new);
  }

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(e);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(PLUG_IN) && !name.equals(altered)) {
      return super.loadClass(name, resolve);
    }
    if (name.equals(altered) && change == Change.NO_CLASS) {
      throw new ClassNotFoundException(name);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (file == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = file.readAllBytes();
      byte[] defined = name.equals(altered) && change != Change.NONE ? alter(bytes) : bytes;
      return defineClass(name, defined, 0, defined.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  private byte[] alter(byte[] bytes) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter writer = new ClassWriter(0);
    reader.accept(
        new ClassVisitor(Opcodes.ASM9, writer) {
          private int type;

          @Override
          public void visit(
              int version, int access, String type, String generic, String above, String[] more) {
            this.type = access;
            super.visit(version, access, type, generic, above, more);
          }

          @Override
          public FieldVisitor visitField(
              int access, String name, String descriptor, String signature, Object value) {
            return super.visitField(access, name(name), descriptor, signature, value);
          }

          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            boolean flips = change == Change.STATIC && !name.startsWith("<");
            int own = flips ? access ^ Opcodes.ACC_STATIC : access;
            return super.visitMethod(
                own, name(name), descriptor(name, descriptor), signature, exceptions);
          }

          @Override
          public void visitEnd() {
            if (change == Change.ABSTRACT) {
              visitAdded(Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT);
            } else if (change == Change.PROTECTED && (type & Opcodes.ACC_INTERFACE) == 0) {
              visitAdded(Opcodes.ACC_PROTECTED | Opcodes.ACC_ABSTRACT);
            } else if (change == Change.CONCRETE) {
              MethodVisitor added = visitAdded(Opcodes.ACC_PUBLIC);
              added.visitCode();
              added.visitInsn(Opcodes.RETURN);
              added.visitMaxs(0, 1);
              added.visitEnd();
            }
            super.visitEnd();
          }

          private MethodVisitor visitAdded(int access) {
            return super.visitMethod(access, "added", "()V", null, null);
          }
        },
        0);
    return writer.toByteArray();
  }

  private String name(String name) {
    return change == Change.RENAMED && !name.startsWith("<") ? name + "Renamed" : name;
  }

  /** A constructor cannot have another name, but one more parameter. */
  private String descriptor(String name, String descriptor) {
    return change == Change.RENAMED && name.equals("<init>")
        ? descriptor.replace(")", "Ljava/lang/Void;)")
        : descriptor;
  }

  /** Whether something of this line of the list is missing. */
  boolean lacks(String line) {
    return !LinkCheck.missing(this, List.of(line)).isEmpty();
  }
}
