// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;

/**
 * The application that {@code ./bench} submits. Its arguments are the files of the {@link
 * BenchmarkPlan} and of the result, a {@link BenchmarkReport}.
 */
public final class LaunchedBenchmark {
  private LaunchedBenchmark() {}

  public static void main(String[] files) throws Exception {
    ObjectMapper json = new ObjectMapper();
    BenchmarkPlan plan = json.readValue(new File(files[0]), BenchmarkPlan.class);
    try {
      json.writeValue(new File(files[1]), new BenchmarkRuns(plan, System.out::println).run());
    } catch (BenchmarkException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }
}
