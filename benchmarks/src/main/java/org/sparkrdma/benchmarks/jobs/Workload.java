// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MisuseException;

/** A job in one shape. Stateless, because it runs many times under different shuffles. */
public interface Workload {
  /**
   * Writes the input, if the job reads any from files. Called once, under Spark's own shuffle.
   *
   * @param data directory for input and output, as Hadoop names it
   */
  default void prepare(JavaSparkContext spark, String data) throws IOException {}

  /**
   * Runs the job; the time until this method returns is measured.
   *
   * @return computes the answer, outside the measured time
   */
  PendingAnswer run(JavaSparkContext spark, String data) throws IOException;

  /**
   * A job that has ended.
   *
   * @param answer computes the answer, outside the measured time
   * @param querySeconds wall time of each query of the job, by its name in the job's order; else
   *     empty
   */
  record PendingAnswer(Callable<ComputedAnswer> answer, Map<String, Double> querySeconds) {
    PendingAnswer(Callable<ComputedAnswer> answer) {
      this(answer, Map.of());
    }

    /** Computes the answer. */
    public ComputedAnswer call() throws Exception {
      return answer.call();
    }
  }

  /** The size of a job as users write it: numbers and sizes with an {@code x} between them. */
  record Shape(String text, List<String> parts) {
    /**
     * @throws MisuseException in one sentence, if the text has another number of parts
     */
    public static Shape parse(String text, int parts) {
      Shape shape = new Shape(text, List.of(text.split("x", -1)));
      if (shape.parts.size() != parts) {
        throw new MisuseException(
            "'%s' has %d parts instead of %d".formatted(text, shape.parts.size(), parts));
      }
      return shape;
    }

    /** A whole number between the limits. */
    public int count(int index, int min, int max) {
      String part = parts.get(index);
      int count = part.matches("[0-9]{1,9}") ? Integer.parseInt(part) : -1;
      if (count < min || count > max) {
        throw new MisuseException(
            "'%s' in '%s' must be a whole number from %d to %d".formatted(part, text, min, max));
      }
      return count;
    }

    /** A part as it is written. */
    public String text(int index) {
      return parts.get(index);
    }

    /** A number above 0 with at most three decimals. */
    public double decimal(int index, double max) {
      String part = parts.get(index);
      double number = part.matches("[0-9]{1,6}([.][0-9]{1,3})?") ? Double.parseDouble(part) : 0;
      if (number <= 0 || number > max) {
        throw new MisuseException(
            String.format(
                Locale.ROOT,
                "'%s' in '%s' must be a number above 0, up to %.0f, with at most three decimals",
                part,
                text,
                max));
      }
      return number;
    }

    /** A size of at most {@code max}. */
    public int bytes(int index, DataSize max) {
      DataSize size = size(index);
      if (size.bytes() > max.bytes()) {
        throw new MisuseException(
            "'%s' in '%s' must be at most %s".formatted(parts.get(index), text, max));
      }
      return Math.toIntExact(size.bytes());
    }

    /** A size. */
    DataSize size(int index) {
      return DataSize.parse(parts.get(index));
    }
  }
}
