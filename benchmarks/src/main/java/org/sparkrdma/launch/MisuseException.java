// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import picocli.CommandLine.TypeConversionException;

/** A command line is wrong; the message is one sentence for the user. */
public final class MisuseException extends TypeConversionException {
  private static final long serialVersionUID = 1L;

  public MisuseException(String sentence) {
    super(sentence);
  }
}
