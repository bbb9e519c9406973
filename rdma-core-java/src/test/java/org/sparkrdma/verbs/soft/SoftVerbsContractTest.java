// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.VerbsContractSuite;

/** The contract suite over the soft engine. */
class SoftVerbsContractTest extends VerbsContractSuite {
  @Override
  protected EngineUnderTest engineUnderTest() {
    return SoftUnderTest.ENGINE;
  }
}
