// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.collect;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * A zip file of texts. The file is created at once, so that the collection does not begin when it
 * cannot be written. Closed by its creator; the file is deleted unless {@link #write} has finished.
 */
public final class Archive implements AutoCloseable {
  private static final int MAX_TEXT_CHARS = 512 << 10;

  private final Path file;
  private final OutputStream stream;
  private final AddressMask mask;
  private boolean complete;

  private Archive(Path file, OutputStream stream, AddressMask mask) {
    this.file = file;
    this.stream = stream;
    this.mask = mask;
  }

  /**
   * Creates the file.
   *
   * @param file does not exist
   * @param mask of addresses in all texts; null keeps them
   */
  public static Archive create(Path file, AddressMask mask) throws IOException {
    return new Archive(
        file,
        Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
        mask);
  }

  /**
   * Writes all texts; called once. Longer texts are cut.
   *
   * @return the names of the entries with their lengths
   */
  public List<String> write(Map<String, String> texts) throws IOException {
    List<String> entries = new ArrayList<>();
    ZipOutputStream zip = new ZipOutputStream(stream, StandardCharsets.UTF_8);
    for (Map.Entry<String, String> entry : texts.entrySet()) {
      String text = entry.getValue();
      String cut = text.substring(0, Math.min(MAX_TEXT_CHARS, text.length()));
      byte[] bytes = (mask == null ? cut : mask.mask(cut)).getBytes(StandardCharsets.UTF_8);
      zip.putNextEntry(new ZipEntry(entry.getKey()));
      zip.write(bytes);
      zip.closeEntry();
      entries.add(entry.getKey() + " " + bytes.length + " bytes");
    }
    zip.finish();
    stream.flush();
    complete = true;
    return entries;
  }

  @Override
  public void close() throws IOException {
    stream.close();
    if (!complete) {
      Files.deleteIfExists(file);
    }
  }
}
