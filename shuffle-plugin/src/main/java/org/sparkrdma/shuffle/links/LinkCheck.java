// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Looks up what parts of the plug-in use of Spark, one member at a time, as the JVM would link it:
 * classes that other members name may be absent. The build writes the list ({@code
 * .mvn/ListLinks.java}, which describes its lines). Immutable.
 */
public final class LinkCheck {
  private static final String LIST = "links.tsv";
  private static final String CONSTRUCTOR = "<init>";
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.publicLookup();

  private final ClassLoader loader;

  private LinkCheck(ClassLoader loader) {
    this.loader = loader;
  }

  /** The same with the class loader of the plug-in. */
  public static List<String> missing(LinkPart... parts) {
    return missing(LinkCheck.class.getClassLoader(), parts);
  }

  /**
   * What is missing, as names for a log; empty when nothing is.
   *
   * @param loader of Spark and of the plug-in's classes
   */
  public static List<String> missing(ClassLoader loader, LinkPart... parts) {
    Set<LinkPart> wanted = Set.of(parts);
    return missing(loader, lines(line -> wanted.stream().anyMatch(part -> part.begins(line))));
  }

  static List<String> missing(ClassLoader loader, Stream<String> lines) {
    LinkCheck check = new LinkCheck(loader);
    return lines
        .map(line -> line.split("\t", -1))
        .filter(fields -> !check.isThere(fields))
        .map(LinkCheck::name)
        .distinct()
        .toList();
  }

  /** The lines of the list. */
  static Stream<String> lines(Predicate<String> wanted) {
    try (InputStream file = LinkCheck.class.getResourceAsStream(LIST);
        BufferedReader reader =
            new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
      return reader.lines().filter(wanted).toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(String[] fields) {
    return fields.length > 3 && !fields[1].equals("forwards")
        ? fields[2] + "." + fields[3]
        : fields[2];
  }

  private boolean isThere(String[] fields) {
    try {
      Class<?> type = Class.forName(fields[2], false, loader);
      return switch (fields[1]) {
        case "class" -> !type.isInterface() && !Modifier.isFinal(type.getModifiers());
        case "interface" -> type.isInterface();
        case "own" -> isComplete(type);
        case "named" -> hasNamed(type, fields[3], Set.of(fields[4].split(",", -1)));
        case "forwards" -> forwards(type, Class.forName(fields[3], false, loader));
        case "field" -> hasField(type, fields[3], fields[4], isStatic(fields));
        case "method" -> !type.isInterface() && hasMethod(type, fields);
        case "interface-method" -> type.isInterface() && hasMethod(type, fields);
        default -> Modifier.isPublic(type.getModifiers());
      };
    } catch (ReflectiveOperationException | TypeNotPresentException | LinkageError e) {
      return false;
    }
  }

  private static boolean isStatic(String[] fields) {
    return fields[5].equals("static");
  }

  private boolean hasField(Class<?> type, String name, String descriptor, boolean isStatic)
      throws ReflectiveOperationException {
    Class<?> ofType = MethodType.fromMethodDescriptorString("()" + descriptor, loader).returnType();
    return (isStatic
            ? LOOKUP.findStaticGetter(type, name, ofType)
            : LOOKUP.findGetter(type, name, ofType))
        != null;
  }

  private boolean hasMethod(Class<?> type, String[] fields) throws ReflectiveOperationException {
    MethodType wanted = MethodType.fromMethodDescriptorString(fields[4], loader);
    try {
      if (fields[3].equals(CONSTRUCTOR)) {
        return LOOKUP.findConstructor(type, wanted) != null;
      }
      return (isStatic(fields)
              ? LOOKUP.findStatic(type, fields[3], wanted)
              : LOOKUP.findVirtual(type, fields[3], wanted))
          != null;
    } catch (IllegalAccessException e) {
      return hasProtected(type, fields, wanted);
    }
  }

  /** A protected member, which only our subclass uses. */
  private static boolean hasProtected(Class<?> type, String[] fields, MethodType wanted) {
    for (Class<?> one = type; one != null; one = one.getSuperclass()) {
      try {
        Executable found =
            fields[3].equals(CONSTRUCTOR)
                ? type.getDeclaredConstructor(wanted.parameterArray())
                : one.getDeclaredMethod(fields[3], wanted.parameterArray());
        return Modifier.isProtected(found.getModifiers())
            && Modifier.isStatic(found.getModifiers()) == isStatic(fields);
      } catch (NoSuchMethodException e) {
        // Perhaps its superclass has it.
      }
    }
    return false;
  }

  /** Whether a class of ours has no abstract method, as one that this Spark has added. */
  private static boolean isComplete(Class<?> ours) {
    try {
      return Stream.of(ours.getMethods())
          .noneMatch(method -> Modifier.isAbstract(method.getModifiers()));
    } catch (NoClassDefFoundError e) {
      // An optional library of Spark that a method of its own names.
      return true;
    }
  }

  private static boolean hasNamed(Class<?> type, String name, Set<String> wanted)
      throws ReflectiveOperationException {
    if (wanted.stream().allMatch(one -> one.contains("."))) {
      return wanted.contains(type.getDeclaredField(name).getType().getName());
    }
    Stream<? extends Executable> found =
        name.equals(CONSTRUCTOR)
            ? Stream.<Constructor<?>>of(type.getConstructors())
            : Stream.of(type.getMethods())
                .filter(method -> List.of(name.split("[|]")).contains(method.getName()));
    return found.map(one -> Integer.toString(one.getParameterCount())).anyMatch(wanted::contains);
  }

  /** Whether a class overrides each public method; a new one would do nothing in it, or fail. */
  private static boolean forwards(Class<?> ours, Class<?> to) throws NoSuchMethodException {
    for (Method method : to.getDeclaredMethods()) {
      int modifiers = method.getModifiers();
      if (Modifier.isPublic(modifiers)
          && !Modifier.isStatic(modifiers)
          && !Modifier.isFinal(modifiers)
          && ours.getMethod(method.getName(), method.getParameterTypes()).getDeclaringClass()
              == to) {
        return false;
      }
    }
    return true;
  }
}
