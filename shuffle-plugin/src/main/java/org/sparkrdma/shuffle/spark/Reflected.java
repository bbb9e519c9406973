// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Locale;
import org.sparkrdma.shuffle.links.LinkCheck;
import org.sparkrdma.shuffle.links.LinkPart;

/**
 * Each method, constructor and field of Spark that the plug-in reaches by reflection, because Spark
 * hides it, or its name or parameters differ between versions. The list of {@link LinkCheck} has
 * the same ones, as lines of the kind {@code named}. One that is missing is a {@link LinkageError},
 * as where the JVM links it. Safe for any thread.
 */
public enum Reflected {
  /** Of a block manager, private and final: the client through which readers fetch. */
  CLIENT(LinkPart.BESIDE, "blockStoreClient", "org.apache.spark.network.shuffle.BlockStoreClient"),
  /** Of a SparkEnv: its manager, up to 4.2, and two names that the source of later ones has had. */
  MANAGER(LinkPart.BESIDE, "shuffleManager|blockingShuffleManager|defaultShuffleManager", "0"),
  /** The constructor of the sorter, which grew in 4.1. */
  SORTER(LinkPart.READER, "<init>", "5,6[]"),
  /** The frame of a page, which grew in 4.2. */
  PAGE_HEADER(LinkPart.UI, "headerSparkPage", "7,8"),
  /** The content of a page; up to 3.5 of a request of the package javax.servlet. */
  PAGE_RENDER(LinkPart.UI, "render", "1");

  private final LinkPart part;
  private final String names;
  private final String wanted;

  /**
   * @param part says what follows where it is missing
   * @param names as in a line of the list, as are its parameters or type
   */
  Reflected(LinkPart part, String names, String wanted) {
    this.part = part;
    this.names = names;
    this.wanted = wanted;
  }

  /** Its line in the list. */
  String line(Class<?> of) {
    return String.join(
        "\t", part.name().toLowerCase(Locale.ROOT), "named", of.getName(), names, wanted);
  }

  /**
   * The field, which may be written.
   *
   * @throws NoSuchFieldError when the class has none of this name and type
   */
  Field field(Class<?> of) {
    try {
      Field field = of.getDeclaredField(names);
      if (field.getType().getName().equals(wanted)) {
        field.setAccessible(true);
        return field;
      }
    } catch (NoSuchFieldException e) {
      // As one of another type.
    }
    throw new NoSuchFieldError(name(of));
  }

  /**
   * The public method.
   *
   * @throws NoSuchMethodError when the class has none of these names and parameters
   */
  public Method method(Class<?> of) {
    return (Method) executable(of);
  }

  /**
   * The public constructor.
   *
   * @throws NoSuchMethodError when the class has none with such parameters
   */
  Constructor<?> constructor(Class<?> of) {
    return (Constructor<?>) executable(of);
  }

  private Executable executable(Class<?> of) {
    Executable found = LinkCheck.named(of, names, wanted);
    if (found == null) {
      throw new NoSuchMethodError(name(of));
    }
    return found;
  }

  private String name(Class<?> of) {
    return of.getName() + "." + names + " (" + wanted + ")";
  }
}
