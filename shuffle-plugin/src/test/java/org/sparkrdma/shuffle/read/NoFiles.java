// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;

/** Only to be passed on. */
final class NoFiles implements DownloadFileManager {
  @Override
  public DownloadFile createTempFile(TransportConf conf) {
    throw new UnsupportedOperationException("only passed on");
  }

  @Override
  public boolean registerTempFileToClean(DownloadFile file) {
    throw new UnsupportedOperationException("only passed on");
  }
}
