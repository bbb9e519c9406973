// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The rows of one test class. The build of integration-tests merges those of all test classes into
 * {@code fault-table.json} and fails when some are missing. Confined to the test's thread.
 */
public final class FaultRows {
  private static final Path FOLDER = Path.of("target", "fault-rows");

  private final String where;
  private final String engine;
  private final String file;
  private final Map<String, String> rows = new LinkedHashMap<>();

  /**
   * @param where {@code server}, or {@code stub} of a device
   * @param file name of the file, which no other test class writes
   */
  public FaultRows(String where, String engine, String file) {
    this.where = where;
    this.engine = engine;
    this.file = file;
  }

  /** Adds a row; a later one of the same fault and recovery replaces it. */
  public void add(FaultRow row) {
    rows.put(row.name() + "\n" + row.recovery(), row.json(where, engine));
  }

  /** Writes all rows, one in each line, into the folder of this module's build. */
  public void write() throws IOException {
    Files.createDirectories(FOLDER);
    Files.write(FOLDER.resolve(file), rows.values());
  }
}
