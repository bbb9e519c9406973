// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import org.sparkrdma.cluster.LaunchException;

/**
 * The application that all measuring commands submit. Its arguments are the class of a {@link
 * Plan}, the file of the plan, and the file of the result, both as JSON.
 */
public final class MeasuredApplication {
  private MeasuredApplication() {}

  /** The work of one application, done by the driver's main thread. */
  public interface Plan {
    /**
     * Starts Spark, measures, and ends Spark.
     *
     * @return the result, which Jackson writes
     * @throws LaunchException when the measurement is invalid
     */
    Object measure() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    ObjectMapper json = new ObjectMapper();
    Class<? extends Plan> type = Class.forName(arguments[0]).asSubclass(Plan.class);
    Plan plan = json.readValue(new File(arguments[1]), type);
    try {
      json.writeValue(new File(arguments[2]), plan.measure());
    } catch (LaunchException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }
}
