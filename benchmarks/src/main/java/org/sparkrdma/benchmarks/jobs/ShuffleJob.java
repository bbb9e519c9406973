// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Every job, with the shapes that were chosen before anything was measured. {@code ./bench list}
 * prints the same, without Java.
 */
public enum ShuffleJob {
  /** Blocks of one length. */
  GROUPBY("MAPSxREDUCERSxBLOCK", "256x256x4k,96x96x64k", false);

  private final String form;

  /** Separated by commas. */
  private final String shapes;

  private final boolean readsFiles;

  ShuffleJob(String form, String shapes, boolean readsFiles) {
    this.form = form;
    this.shapes = shapes;
    this.readsFiles = readsFiles;
  }

  /** The job of this name, if there is one. */
  static Optional<ShuffleJob> named(String name) {
    return Arrays.stream(values()).filter(job -> job.toString().equals(name)).findFirst();
  }

  /** The shapes that are run when the user names none. */
  List<String> shapes() {
    return List.of(shapes.split(",", -1));
  }

  /** How a shape is written. */
  String form() {
    return form;
  }

  /** Whether the job needs a directory that every executor reads and writes. */
  boolean readsFiles() {
    return readsFiles;
  }

  /**
   * The job in one shape.
   *
   * @throws IllegalArgumentException in one sentence that says how a shape is written
   */
  Workload workload(String shape) {
    try {
      return switch (this) {
        case GROUPBY -> GroupBy.parse(shape);
      };
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "shape of %s: %s; write it as %s, such as %s"
              .formatted(this, e.getMessage(), form, shapes().get(0)),
          e);
    }
  }

  /** As it stands on the command line. */
  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
