// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;

/** Only forwarded, never used. */
final class NoFiles implements DownloadFileManager {
  @Override
  public DownloadFile createTempFile(TransportConf conf) {
    throw new UnsupportedOperationException("only forwarded");
  }

  @Override
  public boolean registerTempFileToClean(DownloadFile file) {
    throw new UnsupportedOperationException("only forwarded");
  }
}
