// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodType;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks up what parts of the plug-in use of Spark, one method, field or class at a time, as the JVM
 * would link it: classes that others name may be absent. The build writes the list ({@code
 * dev/build/ListLinks.java}, which describes its lines). Executors start with it, so it has no
 * streams. Confined to one thread.
 */
public final class LinkCheck {
  private static final Logger LOG = LoggerFactory.getLogger(LinkCheck.class);

  /** The list; its name also stands for all that it has where it cannot be read. */
  static final String LIST = "links.tsv";

  private static final String CONSTRUCTOR = "<init>";

  /** Written by the build; calls the instance method of a line with its number on null. */
  private static final String PROBE = "org.sparkrdma.shuffle.links.LinkedMembers";

  private final ClassLoader loader;

  /** Null until it is needed. */
  private IntConsumer probe;

  private LinkCheck(ClassLoader loader) {
    this.loader = loader;
  }

  /** The same with the class loader of the plug-in. */
  public static List<String> missing(LinkPart... parts) {
    return missing(LinkCheck.class.getClassLoader(), parts);
  }

  /**
   * What is missing, as names for a log; empty when nothing is. Where the list cannot be read,
   * anything may be.
   *
   * @param loader of Spark and of the plug-in's classes
   */
  public static List<String> missing(ClassLoader loader, LinkPart... parts) {
    List<String> lines = lines();
    if (lines.isEmpty()) {
      return List.of(LIST);
    }
    List<String> wanted = new ArrayList<>();
    for (String line : lines) {
      for (LinkPart part : parts) {
        if (part.begins(line)) {
          wanted.add(line);
        }
      }
    }
    return missing(loader, wanted);
  }

  static List<String> missing(ClassLoader loader, List<String> lines) {
    return new LinkCheck(loader).missing(lines);
  }

  private List<String> missing(List<String> lines) {
    Set<String> names = new LinkedHashSet<>();
    Set<String> seen = new HashSet<>();
    for (String line : lines) {
      String[] fields = line.split("\t", -1);
      // Several parts may use a method or field.
      if (seen.add(line.substring(fields[0].length(), line.lastIndexOf('\t')))
          && !isThere(fields)) {
        names.add(name(fields));
      }
    }
    return List.copyOf(names);
  }

  /**
   * The lines of the list, with their number as last field; none where a jar has lost it or is
   * damaged.
   */
  static List<String> lines() {
    List<String> lines = new ArrayList<>();
    try (InputStream file = LinkCheck.class.getResourceAsStream(LIST)) {
      if (file != null) {
        BufferedReader reader =
            new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
          lines.add(line.concat("\t").concat(Integer.toString(lines.size())));
        }
      }
    } catch (IOException e) {
      LOG.debug("What the plug-in uses of Spark cannot be read", e);
      lines.clear();
    }
    return lines;
  }

  private static String name(String[] fields) {
    if (fields[1].equals("forwards")) {
      return fields[3];
    }
    return fields.length > 4 ? fields[2].concat(".").concat(fields[3]) : fields[2];
  }

  private static boolean isStatic(String[] fields) {
    return fields[5].equals("static");
  }

  private boolean isThere(String[] fields) {
    try {
      Class<?> type = Class.forName(fields[2], false, loader);
      return switch (fields[1]) {
        case "own" -> isComplete(type);
        case "named" -> hasNamed(type, fields[3], fields[4]);
        case "forwards" -> forwards(type, Class.forName(fields[3], false, loader));
        case "field" -> hasField(type, fields);
        case "method", "interface-method" ->
            (isStatic(fields) || fields[3].equals(CONSTRUCTOR))
                ? isDeclared(type, fields)
                : isLinked(type, fields);
        default -> Modifier.isPublic(type.getModifiers());
      };
    } catch (ReflectiveOperationException | TypeNotPresentException | LinkageError e) {
      return false;
    }
  }

  private static boolean hasField(Class<?> type, String[] fields) throws NoSuchFieldException {
    Field field = type.getField(fields[3]);
    return field.getType().descriptorString().equals(fields[4])
        && Modifier.isStatic(field.getModifiers()) == isStatic(fields);
  }

  /**
   * Loads only the class of the method or field, where reflection loads all that its methods name.
   */
  private boolean isLinked(Class<?> type, String[] fields) throws ReflectiveOperationException {
    if (probe == null) {
      Class<?> linked = Class.forName(PROBE, true, loader);
      probe = (IntConsumer) linked.getDeclaredConstructor().newInstance();
    }
    try {
      probe.accept(Integer.parseInt(fields[6]));
      return false;
    } catch (NullPointerException e) {
      return true;
    } catch (IllegalAccessError e) {
      // A protected one, which only our subclass uses.
      return isDeclared(type, fields);
    }
  }

  private boolean isDeclared(Class<?> type, String[] fields) throws ReflectiveOperationException {
    MethodType wanted = MethodType.fromMethodDescriptorString(fields[4], loader);
    if (fields[3].equals(CONSTRUCTOR)) {
      return isOurs(type.getDeclaredConstructor(wanted.parameterArray()), false);
    }
    for (Class<?> one = type; one != null; one = one.getSuperclass()) {
      try {
        Method found = one.getDeclaredMethod(fields[3], wanted.parameterArray());
        return isOurs(found, isStatic(fields)) && found.getReturnType() == wanted.returnType();
      } catch (NoSuchMethodException e) {
        // Perhaps its superclass has it.
      }
    }
    return false;
  }

  /** Whether the plug-in may use it. */
  private static boolean isOurs(Executable found, boolean isStatic) {
    int modifiers = found.getModifiers();
    return (Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers))
        && Modifier.isStatic(modifiers) == isStatic;
  }

  /** Whether a class of ours has no abstract method, as one that this Spark has added. */
  private static boolean isComplete(Class<?> ours) {
    try {
      Set<Class<?>> above = new LinkedHashSet<>();
      addAbove(ours, above);
      for (Class<?> type : above) {
        for (Method method : type.getDeclaredMethods()) {
          if (Modifier.isAbstract(method.getModifiers()) && !isImplemented(method, above)) {
            return false;
          }
        }
      }
    } catch (NoClassDefFoundError e) {
      // An optional library of Spark that a method of its own names.
      return true;
    }
    return true;
  }

  /** A class and its supertypes; those of the JDK and Scala add no methods. */
  private static void addAbove(Class<?> type, Set<Class<?>> above) {
    if (type != null && !type.getName().startsWith("java.") && !isOfScala(type)) {
      above.add(type);
      addAbove(type.getSuperclass(), above);
      for (Class<?> one : type.getInterfaces()) {
        addAbove(one, above);
      }
    }
  }

  private static boolean isOfScala(Class<?> type) {
    return type.getName().startsWith("scala.");
  }

  private static boolean isImplemented(Method method, Set<Class<?>> above) {
    for (Class<?> type : above) {
      for (Method one : type.getDeclaredMethods()) {
        if (!Modifier.isAbstract(one.getModifiers())
            && one.getName().equals(method.getName())
            && one.getReturnType() == method.getReturnType()
            && Arrays.equals(one.getParameterTypes(), method.getParameterTypes())) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean hasNamed(Class<?> type, String name, String wanted)
      throws ReflectiveOperationException {
    return wanted.contains(".")
        ? wanted.equals(type.getDeclaredField(name).getType().getName())
        : named(type, name, wanted) != null;
  }

  /**
   * The public method or constructor that a line of the kind {@code named} is about; null when
   * there is none.
   *
   * @param names of a method, the first that there is; or that of a constructor
   * @param wanted numbers of parameters
   */
  public static Executable named(Class<?> type, String names, String wanted) {
    boolean isConstructor = names.equals(CONSTRUCTOR);
    Executable[] all = isConstructor ? type.getConstructors() : type.getDeclaredMethods();
    List<String> numbers = List.of(wanted.split(",", -1));
    for (String name : names.split("[|]", -1)) {
      for (Executable one : all) {
        if ((isConstructor || name.equals(one.getName()))
            && Modifier.isPublic(one.getModifiers())
            && numbers.contains(number(one.getParameterTypes()))) {
          return one;
        }
      }
    }
    return null;
  }

  private static String number(Class<?>[] parameters) {
    int count = parameters.length;
    String number = Integer.toString(count);
    return count > 0 && parameters[count - 1].isArray() ? number.concat("[]") : number;
  }

  /** Whether a class overrides each public method; a new one would do nothing in it, or fail. */
  private static boolean forwards(Class<?> ours, Class<?> to) {
    for (Method method : to.getDeclaredMethods()) {
      int modifiers = method.getModifiers();
      if (Modifier.isPublic(modifiers)
          && !Modifier.isStatic(modifiers)
          && !Modifier.isFinal(modifiers)
          && !isImplemented(method, Set.of(ours))) {
        return false;
      }
    }
    return true;
  }
}
