// What is tried on the roles as processes of their own, all on one deployment, whose start takes long. The first counts
// all payments there are.
import './deployment/rebuild.ts';
import './deployment/reactors.ts';
import './deployment/kill.ts';
