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
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A registered file and its links, shared by its regions; created and counted by {@link FileLinks}.
 */
public final class LinkedFile {
  final Object fileKey;
  final long fileId;
  final Path hardLink;
  int regions;
  private FileChannel channel;
  private boolean closed;

  LinkedFile(Object fileKey, long fileId, Path hardLink) {
    this.fileKey = fileKey;
    this.fileId = fileId;
    this.hardLink = hardLink;
  }

  /** Id by which peers find it. */
  public long fileId() {
    return fileId;
  }

  /** The file, open for reading; for the device thread, which sends from it. */
  public synchronized FileChannel channel() throws IOException {
    if (closed) {
      throw new IOException("the region was deregistered");
    }
    if (channel == null) {
      channel = FileChannel.open(hardLink, StandardOpenOption.READ);
    }
    return channel;
  }

  synchronized void close() {
    closed = true;
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
