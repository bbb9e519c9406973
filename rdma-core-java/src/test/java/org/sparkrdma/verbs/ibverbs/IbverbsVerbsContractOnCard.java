// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.VerbsContractSuite;

/** The contract suite on the device that {@code ./card} was started for, run by ContractMain. */
class IbverbsVerbsContractOnCard extends VerbsContractSuite {
  @Override
  protected EngineUnderTest engineUnderTest() {
    return IbverbsUnderTest.onCard();
  }
}
