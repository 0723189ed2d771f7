from .bundles import Bundle as Bundle, bundle as bundle
from .errors import BadInput as BadInput, BadPass as BadPass, Error as Error, IoError as IoError
from .errors import ResourceError as ResourceError, Unsupported as Unsupported
from .graph import Graph as Graph, capture as capture
from .judging import author as author, check as check, evaluate as evaluate
from .results import Result as Result, load as load
from .tuning import Report as Report, explain as explain, trust as trust, tune as tune

__version__: str
