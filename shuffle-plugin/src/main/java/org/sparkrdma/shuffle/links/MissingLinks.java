// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the plug-in has met a method or field that this Spark lacks, in one process. The first
 * one ends RDMA there, with one WARN; from then on readers are Spark's own. Safe for any thread.
 */
public final class MissingLinks {
  private static final Logger LOG = LoggerFactory.getLogger(MissingLinks.class);
  private static final String PLUG_IN = "org.sparkrdma.";

  private static final String DO = ". Use a plug-in that was built for this Spark";

  /** Methods and fields that a WARN names. */
  private static final int MOST_NAMES = 3;

  private final LinkPart[] parts;
  private final Object check = new Object();
  private boolean checked;
  private volatile String reason;
  private Consumer<String> end = why -> {};

  /**
   * None is missing so far.
   *
   * @param parts that {@link #check} looks up
   */
  public MissingLinks(LinkPart... parts) {
    this.parts = parts;
  }

  /** Those of a driver. */
  public static MissingLinks onDriver() {
    return new MissingLinks(LinkPart.START, LinkPart.DRIVER);
  }

  /** Those of an executor whose readers are this part. */
  public static MissingLinks onExecutor(LinkPart readers) {
    return new MissingLinks(LinkPart.START, readers, LinkPart.CLIENT, LinkPart.SERVING);
  }

  /**
   * An error at an edge between Spark and the plug-in. Where it is about a method or field that the
   * plug-in uses, RDMA ends.
   *
   * @return false for an error of Spark itself or of the job, which is the job's
   */
  public boolean take(LinkageError error) {
    boolean isOurs = isOurs(error);
    if (isOurs && reason == null) {
      LOG.debug("A method or field of Spark is missing", error);
      // The error may name no class.
      List<String> missing = LinkCheck.missing(parts);
      take(missing.isEmpty() ? describe(error.toString()) : describe(missing));
    }
    return isOurs;
  }

  /** Same as {@link #take(LinkageError)}; throws the error where that returns false. */
  public void takeOrThrow(LinkageError error) {
    if (!take(error)) {
      throw error;
    }
  }

  /**
   * Looks up what the parts use; a method or field that is missing has the same effect. Calls after
   * the first do nothing, but wait for it.
   */
  public void check() {
    synchronized (check) {
      if (!checked) {
        checked = true;
        lookUp();
      }
    }
  }

  private void lookUp() {
    long startNs = System.nanoTime();
    List<String> missing = LinkCheck.missing(parts);
    LOG.debug(
        "Looked up what the plug-in uses of Spark: parts={} missing={} us={}",
        List.of(parts),
        missing,
        (System.nanoTime() - startNs) / 1_000);
    if (!missing.isEmpty()) {
      take(describe(missing));
    }
  }

  private synchronized void take(String why) {
    if (reason == null) {
      reason = why;
      if (List.of(parts).contains(LinkPart.DRIVER)) {
        LOG.warn("RDMA is not used in this application, its shuffle reads use TCP: {}{}", why, DO);
      } else {
        LOG.warn("RDMA is not used in this executor, its shuffle reads use TCP: {}{}", why, DO);
      }
      end.accept(why);
    }
  }

  /** The reason for a WARN about methods and fields that are missing. */
  public static String describe(List<String> missing) {
    return missing.contains(LinkCheck.LIST)
        ? "the plug-in's jar has no readable " + LinkCheck.LIST + ", with which it checks Spark"
        : describe("it lacks or has changed " + names(missing));
  }

  /** A few names, and the number of the others. */
  public static String names(List<String> missing) {
    int named = Math.min(MOST_NAMES, missing.size());
    String more = missing.size() > named ? " and " + (missing.size() - named) + " more" : "";
    return String.join(", ", missing.subList(0, named)) + more;
  }

  private static String describe(String what) {
    return SparkVersion.of(MissingLinks.class.getClassLoader())
        + " is not one that the plug-in was built for: "
        + what;
  }

  /** Why RDMA has ended; empty when nothing is missing so far. */
  public Optional<String> reason() {
    return Optional.ofNullable(reason);
  }

  /** Whether a method or field is missing. */
  public boolean any() {
    return reason != null;
  }

  /**
   * Sets what ends RDMA beside the WARN; called with the reason, once, at once when it is known
   * already. It must not wait.
   */
  public synchronized void setEnd(Consumer<String> ending) {
    end = ending;
    if (reason != null) {
      end.accept(reason);
    }
  }

  /** Whether the code that failed to link is the plug-in's, or Spark found no method in it. */
  private static boolean isOurs(LinkageError error) {
    if (error instanceof ExceptionInInitializerError) {
      // Its trace begins where the class was used first; the fault is that of its cause.
      return error.getCause() instanceof LinkageError cause && isOurs(cause);
    }
    if (String.valueOf(error.getMessage()).replace('/', '.').contains(PLUG_IN)) {
      return true;
    }
    // The JVM puts the caller of an abstract method on top, also where a class of the job lacks it.
    return !(error instanceof AbstractMethodError)
        && Stream.of(error.getStackTrace())
            .map(StackTraceElement::getClassName)
            .filter(name -> !name.startsWith("java.") && !name.startsWith("jdk."))
            .findFirst()
            .filter(name -> name.startsWith(PLUG_IN))
            .isPresent();
  }
}
