// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;

/**
 * Reasons why a file cannot be read or written, without its name, which is often the only text of
 * an exception. Stateless.
 */
public final class FileErrors {
  private FileErrors() {}

  /** The reason why a text is no name of a file for this JVM, in words. */
  public static String reason(InvalidPathException e) {
    return e.getInput().indexOf('\0') >= 0
        ? "its name has a NUL character"
        : "its name has letters that the locale of this process lacks; set LC_ALL=C.UTF-8";
  }

  /** The reason in words. */
  public static String reason(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "no such file";
    }
    if (e instanceof FileAlreadyExistsException) {
      return "it exists";
    }
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (e instanceof FileSystemException ofFile && ofFile.getReason() != null) {
      return ofFile.getReason();
    }
    boolean inWords = e.getClass() == IOException.class;
    return e.getMessage() + (inWords ? "" : " (" + e.getClass().getSimpleName() + ")");
  }
}
