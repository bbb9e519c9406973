/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
