// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;

/** Only forwarded, never used. */
public final class NoFiles implements DownloadFileManager {
  @Override
  public DownloadFile createTempFile(TransportConf conf) {
    throw new UnsupportedOperationException("only forwarded");
  }

  @Override
  public boolean registerTempFileToClean(DownloadFile file) {
    throw new UnsupportedOperationException("only forwarded");
  }
}
