// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

/** This host cannot run the suite; the message is one sentence that says why and what to do. */
final class NotUsableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NotUsableException(String sentence) {
    super(sentence);
  }
}
