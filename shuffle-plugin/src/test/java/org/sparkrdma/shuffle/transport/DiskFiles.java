// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.file.Path;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.SimpleDownloadFile;
import org.apache.spark.network.util.TransportConf;

/** Creates temporary files as Spark's iterator does; each replaces the one before. */
final class DiskFiles implements DownloadFileManager {
  private final Path directory;

  DiskFiles(Path directory) {
    this.directory = directory;
  }

  @Override
  public DownloadFile createTempFile(TransportConf conf) {
    return new SimpleDownloadFile(directory.resolve("fetched").toFile(), conf);
  }

  @Override
  public boolean registerTempFileToClean(DownloadFile file) {
    return true;
  }
}
