// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.List;

/** Reads the facts of one matter and explains them. Stateless. */
interface Check {
  /** A name of one to three words, for the output. */
  String name();

  /** At least one finding, or none where the matter does not arise. */
  List<Finding> run(Facts facts);

  /**
   * As {@link #run(Facts)}, for a check whose advice depends on the checks before it.
   *
   * @param problemsBefore whether one of them has found a problem
   */
  default List<Finding> run(Facts facts, boolean problemsBefore) {
    return run(facts);
  }
}
